// The process between a test run and its PostgreSQL: it outlives the run for a moment, to stop the server and remove its files.
import { type ChildProcess, spawn } from 'node:child_process'
import { rmSync } from 'node:fs'
import type { WardenOrders } from './warden-orders.ts'

const GRACE_MS = 10_000
const LOG_CHARS_MAX = 8_000
const READY = /database system is ready to accept (?:read-only )?connections/

function watch(orders: WardenOrders): void {
  const server = spawn(orders.program, orders.args, {
    ...orders.runAs,
    cwd: orders.scratch,
    stdio: ['ignore', 'ignore', 'pipe'],
    env: { TZ: 'UTC' }
  })
  let log = ''
  let isReady = false
  let stopping = false

  server.stderr.setEncoding('utf8').on('data', (chunk: string) => {
    log = (log + chunk).slice(-LOG_CHARS_MAX)
    if (isReady || !READY.test(log)) return
    isReady = true
    process.stdout.write('ready\n')
  })
  server.once('error', error => {
    process.stdout.write(`${error.message}\n`)
    process.exitCode = 1
    process.stdin.destroy()
  })
  server.once('close', () => {
    // A server that did not become ready is started again, so its files stay for the caller.
    if (stopping || isReady) rmSync(orders.scratch, { recursive: true, force: true })
    else process.stdout.write(log)
    process.stdin.destroy()
  })

  const stop = () => {
    if (stopping) return
    stopping = true
    end(server)
  }
  // The input closes when the run requests it and, by the kernel, when the run ends.
  process.stdin.resume().once('end', stop).once('error', stop)
  process.stdout.once('error', stop)
  process.once('SIGTERM', stop)
  process.once('SIGINT', stop)
}

// SIGINT is PostgreSQL's fast shutdown (clients are disconnected, data is kept), SIGQUIT its immediate one.
function end(server: ChildProcess): void {
  server.kill('SIGINT')
  setTimeout(() => server.kill('SIGQUIT'), GRACE_MS).unref()
}

watch(JSON.parse(process.argv[2] ?? '{}'))
