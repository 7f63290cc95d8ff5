'use strict'

// npm runs this script when it has installed the packages. It puts the program itself where
// the launcher was, so that the command needs no Node.js.

const fs = require('fs')
const path = require('path')
const { findProgram } = require('./program.js')

function replaceLauncher() {
  const program = findProgram()
  const command = path.join(__dirname, 'bin', 'claude-swarm')
  const next = `${command}.new`
  fs.rmSync(next, { force: true })
  try {
    fs.linkSync(program, next)
  } catch {
    fs.copyFileSync(program, next) // another file system, or one without hard links
  }
  fs.chmodSync(next, 0o755)
  // The rename replaces the command in one step. It does nothing if both are the same file.
  fs.renameSync(next, command)
  fs.rmSync(next, { force: true })
}

try {
  replaceLauncher()
} catch (err) {
  console.error(`claude-swarm: ${err.message}`)
  process.exitCode = 1
}
