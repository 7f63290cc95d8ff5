'use strict'

const path = require('path')
const manifest = require('./package.json')

// Returns the path of the program for this machine. npm installs only the package with the
// program for this machine, because the packages of the other platforms do not match.
function findProgram() {
  const platform = `${process.platform}-${process.arch}`
  const name = `claude-swarm-${platform}`
  const version = manifest.optionalDependencies[name]
  if (!version) {
    const known = Object.keys(manifest.optionalDependencies).map(name => name.replace('claude-swarm-', ''))
    throw new Error(`there is no program for ${platform}, only for ${known.join(', ')}`)
  }
  const again = `  try: npm install -g claude-swarm@${manifest.version}`
  let found
  try {
    found = require.resolve(`${name}/package.json`)
  } catch {
    throw new Error(`the package ${name} is not installed\n${again}`)
  }
  const has = require(found).version
  if (has !== version) {
    throw new Error(`${path.dirname(found)} has version ${has}, but this is version ${version}\n${again}`)
  }
  return path.join(path.dirname(found), 'bin', 'claude-swarm')
}

module.exports = { findProgram }
