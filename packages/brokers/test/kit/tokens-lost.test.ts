// Refresh tokens that a broker takes once, and answers that are lost on their way back.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { epochMs, timestampOfMs } from '@trunkline/core/domain/timestamp'
import { BrokerFault, type Credentials } from '@trunkline/core/ports/broker'
import fc from 'fast-check'
import { TransportFault } from '../../src/kit/http.ts'
import { oauthToken } from '../../src/kit/oauth.ts'
import { TokenSource } from '../../src/kit/tokens.ts'
import { settled, VirtualClock } from '../support/clocks.ts'
import { MemoryHolder } from '../support/holder.ts'
import { MemoryLog } from '../support/log.ts'

const never = new AbortController().signal
const LIFE_MS = 100_000
const RENEW_MS = 80_000

const lost = () => new BrokerFault('unreachable', 'lost', { cause: new TransportFault('maybe', 'lost', 'no answer') })
const unsent = () => new BrokerFault('unreachable', 'down', { cause: new TransportFault('none', 'not_connected', 'no connection') })
const refused = () => new BrokerFault('credentials_rejected', 'invalid_grant')

/** What the broker makes of a refresh, and what arrives of its answer. */
type Delivery = 'answered' | 'lost after it' | 'lost before it' | 'never sent'

/** A broker that rotates: a spent refresh token gives the same answer within the grace period, and is refused ever after. */
class Rotating {
  readonly clock = new VirtualClock()
  readonly log = new MemoryLog()
  readonly tokens: TokenSource
  readonly sent: string[] = []
  graceMs: number
  readonly #deliveries: Delivery[]
  #current = 0
  #spentAtMs = Number.NEGATIVE_INFINITY

  constructor(deliveries: readonly Delivery[], graceMs: number) {
    this.#deliveries = [...deliveries]
    this.graceMs = graceMs
    this.tokens = new TokenSource({
      holder: new MemoryHolder(this.#credentials(0)),
      clock: this.clock,
      log: this.log,
      tokenOf: oauthToken,
      refresh: async ({ refresh_token: token = '' }) => this.#refresh(token)
    })
  }

  #credentials(number: number): Credentials {
    const now = this.clock.now()
    return {
      access_token: `a${number}`,
      refresh_token: `r${number}`,
      issued_at: now,
      expires_at: timestampOfMs(epochMs(now) + LIFE_MS)
    }
  }

  #refresh(token: string): Credentials {
    const delivery = this.#deliveries.shift() ?? 'answered'
    if (delivery === 'never sent') throw unsent()
    this.sent.push(token)
    if (delivery === 'lost before it') throw lost()
    const now = this.clock.monotonicMs()
    const isAgain = token === `r${this.#current - 1}` && now - this.#spentAtMs <= this.graceMs
    if (token !== `r${this.#current}` && !isAgain) throw refused()
    if (!isAgain) {
      this.#current += 1
      this.#spentAtMs = now
    }
    if (delivery === 'lost after it') throw lost()
    return this.#credentials(this.#current)
  }

  /** Time passes while the token is requested now and then. Returns the tokens that were at hand. */
  async pass(ms: number): Promise<Set<string | null>> {
    const seen = new Set<string | null>()
    for (let gone = 0; gone < ms; gone += 1_000) {
      await this.clock.advance(Math.min(1_000, ms - gone))
      seen.add(this.tokens.fresh())
      await settled()
    }
    return seen
  }
}

const isFault = (kind: BrokerFault['kind']) => (error: unknown) => error instanceof BrokerFault && error.kind === kind

test('after a lost answer the refresh is repeated at once, with the same refresh token', async () => {
  const broker = new Rotating(['lost after it'], 30_000)
  await broker.tokens.current(never)
  await broker.pass(RENEW_MS + 2_000)
  assert.equal(broker.tokens.fresh(), 'a1')
  assert.deepEqual(broker.sent, ['r0', 'r0'])
})

test('while answers go on being lost the refresh is repeated soon, whether or not a token is requested', async () => {
  const broker = new Rotating(
    Array.from({ length: 6 }, () => 'lost after it'),
    30_000
  )
  await broker.tokens.current(never)
  await broker.clock.advance(RENEW_MS)
  assert.equal(broker.tokens.fresh(), 'a0')
  await broker.clock.advance(18_000)
  assert.equal(broker.tokens.fresh(), 'a1')
  assert.deepEqual(new Set(broker.sent), new Set(['r0']))
})

test('a refusal of what we may have spent ourselves breaks nothing while the access token lasts', async () => {
  const broker = new Rotating(['lost after it', 'lost after it'], 3_000)
  await broker.tokens.current(never)
  await broker.clock.advance(RENEW_MS)
  assert.equal(broker.tokens.fresh(), 'a0')
  assert.deepEqual(await broker.pass(17_000), new Set(['a0']))
  assert.ok(broker.sent.length >= 3 && broker.sent.length <= 4, `sent ${broker.sent.length} times`)
  assert.ok(broker.log.lines.every(line => !/[ar]\d/.test(JSON.stringify(line))))
  await broker.clock.advance(3_000)
  assert.equal(broker.tokens.fresh(), null)
  await assert.rejects(broker.tokens.current(never), isFault('credentials_rejected'))
})

test('nor does it when the token still works, until the broker refuses that as well', async () => {
  const broker = new Rotating(['lost after it', 'lost after it'], 1)
  await broker.tokens.current(never)
  await broker.clock.advance(RENEW_MS)
  broker.tokens.fresh()
  await broker.pass(10_000)
  const result = await broker.tokens.withToken(async token => ({ unauthorized: false, result: token }), never)
  assert.equal(result, 'a0')
  await assert.rejects(
    broker.tokens.withToken(async () => ({ unauthorized: true, result: null }), never),
    isFault('credentials_rejected')
  )
})

test('an unambiguous refusal is definitive at once, though the access token has not ended', async () => {
  const clock = new VirtualClock()
  const now = clock.now()
  const tokens = new TokenSource({
    holder: new MemoryHolder({ access_token: 'a', refresh_token: 'r', issued_at: now, expires_at: timestampOfMs(epochMs(now) + LIFE_MS) }),
    clock,
    log: new MemoryLog(),
    tokenOf: oauthToken,
    refresh: () => Promise.reject(refused())
  })
  await tokens.current(never)
  await clock.advance(RENEW_MS)
  tokens.fresh()
  await settled()
  assert.equal(tokens.fresh(), null)
  await assert.rejects(tokens.current(never), isFault('credentials_rejected'))
})

test('a refresh that never left is not repeated at once', async () => {
  const broker = new Rotating(['never sent', 'never sent'], 30_000)
  await broker.tokens.current(never)
  await broker.clock.advance(RENEW_MS)
  broker.tokens.fresh()
  await broker.clock.advance(4_000)
  assert.deepEqual(broker.sent, [])
  await broker.pass(10_000)
  assert.deepEqual(broker.sent, ['r0'])
  assert.equal(broker.tokens.fresh(), 'a1')
})

test('a login without a refresh token is used until it ends, and is over then', async () => {
  const clock = new VirtualClock()
  const now = clock.now()
  let refreshes = 0
  const tokens = new TokenSource({
    holder: new MemoryHolder({ access_token: 'a', issued_at: now, expires_at: timestampOfMs(epochMs(now) + LIFE_MS) }),
    clock,
    log: new MemoryLog(),
    tokenOf: oauthToken,
    refresh: () => {
      refreshes += 1
      return Promise.reject(refused())
    }
  })
  await tokens.current(never)
  await clock.advance(97_000)
  assert.equal(tokens.fresh(), 'a')
  await settled()
  assert.equal(refreshes, 0)
  await clock.advance(3_000)
  await assert.rejects(tokens.current(never), isFault('credentials_rejected'))
})

test('whatever is lost within the grace period, no login is', async () => {
  const deliveries = fc.array(fc.constantFrom<Delivery>('answered', 'lost after it', 'lost before it', 'never sent'), { maxLength: 12 })
  await fc.assert(
    fc.asyncProperty(deliveries, fc.integer({ min: 1, max: 400 }), async (given, seconds) => {
      const broker = new Rotating(given, Number.POSITIVE_INFINITY)
      await broker.tokens.current(never)
      for (let gone = 0; gone < seconds; gone += 7) {
        await broker.clock.advance(7_000)
        const requested = broker.tokens.current(never).then(
          () => null,
          (error: unknown) => error
        )
        await broker.clock.advance(600)
        const failed = await requested
        assert.ok(failed === null || isFault('unreachable')(failed), String(failed))
      }
      await broker.tokens[Symbol.asyncDispose]()
    }),
    { numRuns: 150 }
  )
})
