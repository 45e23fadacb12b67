/** Helper processes of a measurement, called by messages; a type defines the requests of each. */

import { fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'

/** Requests by name: the input and output of each. Plain data in both directions. */
export type Requests = Readonly<Record<string, { readonly input: unknown; readonly output: unknown }>>

export interface Worker<Calls extends Requests> extends AsyncDisposable {
  readonly pid: number
  ask<Name extends keyof Calls & string>(name: Name, input: Calls[Name]['input']): Promise<Calls[Name]['output']>
}

export type Answers<Calls extends Requests> = {
  readonly [Name in keyof Calls]: (input: Calls[Name]['input']) => Promise<Calls[Name]['output']> | Calls[Name]['output']
}

interface Answered {
  readonly id: number
  readonly output?: unknown
  readonly error?: string
}

/** Starts a program that calls {@link answering}. `flags` are Node's. */
export function startWorker<Calls extends Requests>(path: string, flags: readonly string[] = []): Worker<Calls> {
  const program = fileURLToPath(new URL(`../../${path}`, import.meta.url))
  const child = fork(program, [], { execArgv: [...process.execArgv, ...flags], serialization: 'advanced' })
  const waiting = new Map<number, PromiseWithResolvers<unknown>>()
  let lastId = 0
  let hasEnded = false
  child.on('message', (answer: Answered) => {
    const { resolve, reject } = waiting.get(answer.id) ?? {}
    waiting.delete(answer.id)
    if (answer.error === undefined) resolve?.(answer.output)
    else reject?.(new Error(`${path}: ${answer.error}`))
  })
  const ended = new Promise<void>(resolve =>
    child.once('exit', code => {
      hasEnded = true
      for (const { reject } of waiting.values()) reject(new Error(`${path} ended with code ${code} before it answered`))
      resolve()
    })
  )
  return {
    pid: child.pid ?? 0,
    ask(name, input) {
      if (hasEnded) return Promise.reject(new Error(`${path} has ended`))
      const answer = Promise.withResolvers<unknown>()
      waiting.set(++lastId, answer)
      child.send({ id: lastId, name, input })
      // Both ends have the type `Asked`.
      return answer.promise as Promise<never>
    },
    async [Symbol.asyncDispose]() {
      if (!hasEnded) child.disconnect()
      await ended
    }
  }
}

/** Answers the requests of the parent process until it disconnects. */
export function answering<Calls extends Requests>(answers: Answers<Calls>): void {
  process.on('message', async ({ id, name, input }: { readonly id: number; readonly name: string; readonly input: never }) => {
    try {
      process.send?.({ id, output: await answers[name]?.(input) })
    } catch (error) {
      process.send?.({ id, error: error instanceof Error ? (error.stack ?? error.message) : String(error) })
    }
  })
  process.once('disconnect', () => process.exit(0))
}
