// A token endpoint whose answers are cut off on the wire, with everything between it and the token that is used.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { timestampOfMs } from '@trunkline/core/domain/timestamp'
import { BrokerFault } from '@trunkline/core/ports/broker'
import { until } from '@trunkline/testkit/until'
import { oauthToken } from '../../src/kit/oauth.ts'
import { TokenSource } from '../../src/kit/tokens.ts'
import { systemClock } from '../support/clocks.ts'
import { MemoryHolder } from '../support/holder.ts'
import { MemoryLog } from '../support/log.ts'
import { json, type Script } from '../support/scripted-host.ts'
import { GRANT, signal, start } from './oauth-provider.ts'

type Cut = Parameters<Script>[1]

/** Ways in which an answer can be on its way and never arrive. */
const CUTS: Readonly<Record<string, (response: Cut) => void>> = {
  'before its first byte': response => response.socket?.resetAndDestroy(),
  'after its head': response => {
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': '200' })
    response.write('{"access_token":"a')
    setImmediate(() => response.socket?.destroy())
  },
  'as something else': response => void response.writeHead(200, { 'content-type': 'text/html' }).end('<html>')
}

/** An authorization server that rotates: it accepts `old` once and, with grace, again; the first answer is cut. */
async function open(cut: (response: Cut) => void, hasGrace: boolean) {
  const sent: string[] = []
  const provider = await start((seen, response) => {
    sent.push(new URLSearchParams(seen.body).get('refresh_token') ?? '')
    if (sent.length === 1) return cut(response)
    if (hasGrace) json(response, 200, { ...GRANT, access_token: 'new' })
    else json(response, 400, { error: 'invalid_grant' })
  })
  // The time at which the server issues its tokens.
  const now = Date.UTC(2026, 0, 5, 15)
  const tokens = new TokenSource({
    // Due for a renewal, and good for another minute.
    holder: new MemoryHolder({
      access_token: 'at',
      refresh_token: 'old',
      issued_at: timestampOfMs(now - 600_000),
      expires_at: timestampOfMs(now + 60_000)
    }),
    clock: { ...systemClock, now: () => timestampOfMs(now), sleep: (_, until) => systemClock.sleep(1, until) },
    log: new MemoryLog(),
    tokenOf: oauthToken,
    refresh: provider.login.refresh
  })
  await tokens.current(signal)
  return {
    sent,
    tokens,
    async [Symbol.asyncDispose]() {
      await tokens[Symbol.asyncDispose]()
      await provider[Symbol.asyncDispose]()
    }
  }
}

for (const [when, cut] of Object.entries(CUTS)) {
  test(`an answer cut off ${when} is had again within the grace period`, async () => {
    await using login = await open(cut, true)
    assert.equal(login.tokens.fresh(), 'at')
    await until(() => login.tokens.fresh() === 'new', 'the token was renewed')
    assert.deepEqual(login.sent, ['old', 'old'])
  })

  test(`without one, an answer cut off ${when} leaves the access token, and only its refusal ends the login`, async () => {
    await using login = await open(cut, false)
    assert.equal(login.tokens.fresh(), 'at')
    await until(() => login.sent.length >= 2, 'the refresh was repeated')
    const use = (unauthorized: boolean) => login.tokens.withToken(async token => ({ unauthorized, result: token }), signal)
    for (let time = 0; time < 5; time += 1) assert.equal(await use(false), 'at')
    // A call whose token is refused may join the renewal that is still under way, which proves nothing about the access token.
    const end = () =>
      use(true).then(
        () => 'none',
        (error: unknown) => (error instanceof BrokerFault ? error.kind : error)
      )
    await until(async () => {
      const kind = await end()
      assert.ok(kind === 'unreachable' || kind === 'credentials_rejected', String(kind))
      return kind === 'credentials_rejected'
    }, 'the refusal ended the login')
  })
}
