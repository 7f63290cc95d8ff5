#!/usr/bin/env node
'use strict'

// This script is the command only where npm runs no install scripts; otherwise install.js
// has put the program itself here. Each command takes some tenths of a second longer with it.

const { spawn } = require('child_process')
const os = require('os')
const path = require('path')
const { findProgram } = require('../program.js')

function fail(err) {
  console.error(`claude-swarm: ${err.message}`)
  process.exit(1)
}

function launch() {
  const program = findProgram()
  // doctor compares the number with that of its parent process, and names the script.
  const script = path.join(__dirname, '..', 'install.js')
  const env = { ...process.env, CLAUDE_SWARM_LAUNCHER: `${process.pid} ${script}` }
  const child = spawn(program, process.argv.slice(2), { stdio: 'inherit', env })
  child.on('error', fail)
  // A terminal sends the signals of its keys to the program, too. A second Ctrl-C would mean
  // something else.
  const terminal = process.stdin.isTTY || process.stdout.isTTY || process.stderr.isTTY
  for (const signal of ['SIGINT', 'SIGQUIT']) {
    process.on(signal, () => terminal || child.kill(signal))
  }
  for (const signal of ['SIGTERM', 'SIGHUP', 'SIGUSR1', 'SIGUSR2']) {
    process.on(signal, () => child.kill(signal))
  }
  child.on('exit', (status, signal) => {
    if (signal) {
      process.removeAllListeners(signal)
      process.kill(process.pid, signal)
      process.exit(128 + os.constants.signals[signal]) // Node.js ignores some signals
    }
    process.exit(status)
  })
}

try {
  launch()
} catch (err) {
  fail(err)
}
