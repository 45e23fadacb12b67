/** Helper processes of a measurement that are asked by messages: what each can be asked is a type of its own. */

import { fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'

/** Questions by name: what each takes and gives. Plain data both ways. */
export type Questions = Readonly<Record<string, { readonly input: unknown; readonly output: unknown }>>

export interface Worker<Asked extends Questions> extends AsyncDisposable {
  readonly pid: number
  ask<Name extends keyof Asked & string>(name: Name, input: Asked[Name]['input']): Promise<Asked[Name]['output']>
}

export type Answers<Asked extends Questions> = {
  readonly [Name in keyof Asked]: (input: Asked[Name]['input']) => Promise<Asked[Name]['output']> | Asked[Name]['output']
}

interface Answered {
  readonly id: number
  readonly output?: unknown
  readonly error?: string
}

/** Starts a program that calls {@link answering}. `flags` are Node's. */
export function startWorker<Asked extends Questions>(path: string, flags: readonly string[] = []): Worker<Asked> {
  const program = fileURLToPath(new URL(`../../${path}`, import.meta.url))
  const child = fork(program, [], { execArgv: [...process.execArgv, ...flags], serialization: 'advanced' })
  const waiting = new Map<number, PromiseWithResolvers<unknown>>()
  let asked = 0
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
      waiting.set(++asked, answer)
      child.send({ id: asked, name, input })
      // Both ends are typed by the same `Asked`.
      return answer.promise as Promise<never>
    },
    async [Symbol.asyncDispose]() {
      if (!hasEnded) child.disconnect()
      await ended
    }
  }
}

/** Answers the questions of whoever started this process, until they have no more. */
export function answering<Asked extends Questions>(answers: Answers<Asked>): void {
  process.on('message', async ({ id, name, input }: { readonly id: number; readonly name: string; readonly input: never }) => {
    try {
      process.send?.({ id, output: await answers[name]?.(input) })
    } catch (error) {
      process.send?.({ id, error: error instanceof Error ? (error.stack ?? error.message) : String(error) })
    }
  })
  process.once('disconnect', () => process.exit(0))
}
