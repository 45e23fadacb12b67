import type { AppDeps } from '@trunkline/core/app/application'
import { LocalBus } from '@trunkline/core/app/local-bus'
import type { MarketRefusal } from '@trunkline/core/app/market/refusal'
import type { Bus } from '@trunkline/core/ports/bus'
import type { KnownToken } from '@trunkline/core/ports/store'
import { Stage } from '@trunkline/testkit/market-stage'
import type { ClientConnection } from '../../../src/stream/client-connection.ts'
import { MarketStream } from '../../../src/stream/market/index.ts'
import type { OwnerSessions } from '../../../src/stream/market/owner-sessions.ts'
import type { SlotLimits } from '../../../src/stream/market/session-slots.ts'

const quiet = { debug() {}, info() {}, warn() {}, error() {} }

/** A connection that records what is sent, and can be set behind. */
export class RecordingConnection implements ClientConnection {
  readonly messages: { readonly type?: string; readonly [field: string]: unknown }[] = []
  closed: number | null = null
  isBehind = false
  isPaused = false

  send(frame: Uint8Array): void {
    const text = Buffer.from(frame).toString()
    this.messages.push(JSON.parse(text.slice(text.indexOf('{'))))
  }

  sendText(message: string): void {
    this.messages.push(JSON.parse(message))
  }

  idle(): Promise<void> {
    return Promise.resolve()
  }

  finish(code: number): void {
    this.closed = code
  }

  pause(): void {
    this.isPaused = true
  }

  resume(): void {
    this.isPaused = false
  }

  get updates() {
    return this.messages.filter(({ sub_id, type }) => sub_id !== undefined && type === undefined)
  }
}

/** A market data stream over a market of a script, for one user. */
export class Node {
  readonly stage = new Stage({ liveIntervals: ['1m'] })
  readonly bus: Bus = new LocalBus(quiet)
  readonly tokens = new Map<string, KnownToken>()
  readonly stream: MarketStream
  /** Awaited while a token is looked up. */
  looking: () => Promise<void> = async () => undefined
  left = 0
  /** Set: no market can be joined. */
  refusal: MarketRefusal | null = null

  constructor(slots?: SlotLimits, ownerSessions: OwnerSessions | null = null) {
    const connection = { connectionId: 'connection', platformId: 'platform', broker: 'SANDBOX', status: 'ACTIVE', userKey: 'user' }
    const find = async (hash: string) => {
      const found = this.tokens.get(hash) ?? null
      await this.looking()
      return found
    }
    const deps = {
      clock: this.stage.clock,
      bus: this.bus,
      log: quiet,
      accessAudit: { note() {} },
      meter: { count() {}, observe() {} },
      ids: { uuid: () => '00000000-0000-4000-8000-000000000000' },
      hasher: { hash: (text: string) => text },
      store: { tokens: { find }, connections: { find: async (connectionId: string) => ({ ...connection, connectionId }) } },
      markets: {
        join: () => {
          if (this.refusal !== null) throw this.refusal
          return this.stage.market
        },
        leave: () => (this.left += 1)
      }
    }
    this.stream = new MarketStream(Object(deps) as AppDeps, {}, slots, ownerSessions)
  }

  /** A token of the user's; a later one of the same connection supersedes it. */
  issue(name: string, atSecond: number, connectionId = 'connection'): void {
    for (const [key, token] of this.tokens) {
      if (token.connectionId === connectionId) this.tokens.set(key, { ...token, supersededAt: token.createdAt })
    }
    const createdAt = `2026-01-05T10:00:${String(atSecond).padStart(2, '0')}.000000Z`
    this.tokens.set(
      name,
      Object({
        tokenHash: name,
        userKey: 'user',
        connectionId,
        createdAt,
        expiresAt: '2026-01-06T10:00:00.000000Z',
        supersededAt: null,
        keyId: 'key',
        keyEndsAt: null
      })
    )
  }

  /** A token of somebody else's, of another connection. */
  issueTo(userKey: string, name: string, atSecond: number): void {
    this.issue(name, atSecond, `connection of ${userKey}`)
    this.tokens.set(name, Object({ ...this.tokens.get(name), userKey }))
  }

  open(address = '192.0.2.1') {
    const client = new RecordingConnection()
    const seen = { isKnown: false }
    const listener = this.stream.open(client, address, () => {
      seen.isKnown = true
    })
    const send = (message: object) => listener.text(JSON.stringify({ request_id: 'r', ...message }))
    return { seen, client, listener, send, use: (token: string) => send({ action: 'authenticate', access_token: token }) }
  }

  async authenticated() {
    this.issue('token', 1)
    const session = this.open()
    session.use('token')
    await this.stage.clock.settled()
    return session
  }
}
