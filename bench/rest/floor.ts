import { Client } from '../../packages/server/src/demo/client.ts'
import { type Program, startProgram } from '../harness/processes.ts'
import type { ConnectedUser, Stage } from '../harness/stage.ts'
import { directTokens, USERS } from './orders.ts'

/** The program in `floor-program.ts`, which takes orders as the service does, for logins of its own at the sandbox. */
export interface OrderFloor extends AsyncDisposable {
  readonly service: Program
  readonly platform: Stage['platform']
  readonly users: readonly ConnectedUser[]
}

/** Starts it on the service's database, in a table of its own. */
export async function openOrderFloor(stage: Stage, databaseUrl: string): Promise<OrderFloor> {
  const names = await Promise.all(Array.from({ length: USERS }, () => newLogin(stage.controlUrl)))
  const logins = await directTokens(
    stage,
    names.map(username => ({ username }))
  )
  const program = await startProgram('bench/rest/floor-program.ts', 'floor ', {
    FLOOR_DATABASE_URL: databaseUrl,
    FLOOR_SANDBOX_URL: stage.sandboxUrl,
    FLOOR_TOKENS: JSON.stringify(Object.fromEntries(logins.map(({ account, token }) => [account, token])))
  })
  const platform = { ...stage.platform, baseUrl: `http://127.0.0.1:${program.ready.split(' ')[1]}` }
  // It reads no credentials, but as many bytes of them.
  const headers = { 'client-id': platform.clientId, 'client-secret': platform.clientSecret, 'user-secret': 'x'.repeat(46) }
  const users = logins.map(({ account }, index) => {
    const username = names[index] ?? ''
    return { username, accountId: account, client: new Client(platform), headers: { ...headers, 'user-id': username } }
  })
  return { service: program, platform, users, [Symbol.asyncDispose]: () => program[Symbol.asyncDispose]() }
}

async function newLogin(controlUrl: string): Promise<string> {
  const username = `floor-${crypto.randomUUID().slice(0, 8)}`
  const answer = await fetch(`${controlUrl}/logins`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ username, accounts: [{ kind: 'margin', cash: '500000000' }] })
  })
  if (!answer.ok) throw new Error(`the sandbox made no login: ${answer.status}`)
  return username
}
