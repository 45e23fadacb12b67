// Loaded into the process of a test file: node:test does not follow every promise to the test that made it, which is up to a third of what a file costs.
// It is used for one thing: to say which test an error belongs to that nobody caught. Such an error fails the file all the same, and is printed here.
import asyncHooks, { type AsyncHook, type HookCallbacks } from 'node:async_hooks'
import { isMainThread } from 'node:worker_threads'
import { USAGE_PARENT } from './tell-usage.ts'

const FOLLOWER = 'node:internal/test_runner/'

// A program that a test forks inherits this: there, what nobody caught must end it as ever.
if (isMainThread && process.env[USAGE_PARENT] === String(process.ppid)) {
  const { createHook } = asyncHooks
  asyncHooks.createHook = (callbacks: HookCallbacks) => (new Error().stack?.includes(FOLLOWER) === true ? idle() : createHook(callbacks))
  process.on('uncaughtExceptionMonitor', print)
  process.on('unhandledRejection', print)
}

function idle(): AsyncHook {
  const hook: AsyncHook = { enable: () => hook, disable: () => hook }
  return hook
}

function print(cause: unknown): void {
  process.stderr.write(`Nobody caught: ${cause instanceof Error ? (cause.stack ?? cause.message) : String(cause)}\n`)
}
