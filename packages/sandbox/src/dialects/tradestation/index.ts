/** The house speaking as TradeStation does: see README.md for what is emulated and what is not. */

import type { FastifyInstance } from 'fastify'
import { Cursors } from '../../house/api/cursor.ts'
import type { Dialect, DialectHouse, OpenDialect } from '../../house/dialect.ts'
import { takeJsonBodies } from '../../house/json-body.ts'
import { Grants } from '../frame/grants.ts'
import { DialectRouter } from '../frame/router.ts'
import { accountReads } from './account-reads.ts'
import { barStreams } from './bar-stream.ts'
import { depthStreams } from './depth-stream.ts'
import { changing, placing } from './execution.ts'
import { Hall } from './hall.ts'
import { lists } from './lists.ts'
import { marketReads } from './market-reads.ts'
import { Meter } from './meter.ts'
import { mint, mountOAuth } from './oauth.ts'
import { optionStreams } from './option-stream.ts'
import { DEFAULT_OPTIONS, Modes, type TradestationOptions } from './options.ts'
import { orderReads } from './order-reads.ts'
import { OrderStreams } from './order-stream.ts'
import { PositionStreams } from './position-stream.ts'
import { quoteStreams } from './quote-stream.ts'
import { Sights } from './sights.ts'
import { Access } from './tongue.ts'

export type { TradestationOptions } from './options.ts'

/** What is left out of `parts` is {@link DEFAULT_OPTIONS}'. */
export function tradestation(parts: Partial<TradestationOptions> = {}): OpenDialect {
  const options = { ...DEFAULT_OPTIONS, ...parts }
  return house => open(house, new Modes(options))
}

function open(house: DialectHouse, modes: Modes): Dialect {
  const grants: Grants = new Grants({
    file: house.inFolder('tradestation-grants.jsonl'),
    now: house.realNow,
    newId: house.newId,
    onEnded: grant => {
      account.endGrant(grant)
      market.endGrant(grant)
    }
  })
  const meter = new Meter(modes, house.realNow)
  const access = new Access(grants, meter)
  const sights = new Sights(house)
  const account = new Hall({ house, access, modes, on: 'account' })
  const market = new Hall({ house, access, modes, on: 'market' })
  const orders = new OrderStreams({ house, sights, modes })
  const positions = new PositionStreams({ house, sights })
  const oauth = { house, grants, modes }
  const deps = { house, sights, cursors: new Cursors(Buffer.from(house.newId())) }
  const routes = (app: FastifyInstance) => {
    // Clients tell by it how the clock stands that orders are dated by.
    app.addHook('onRequest', async (_request, reply) => {
      reply.raw.setHeader('date', new Date(Math.floor(house.clock.now() / 1_000)).toUTCString())
    })
    acceptEmpty(app)
    const reading = new DialectRouter(house, access.tongue('read'))
    reading.addRefusals(app)
    for (const route of [...accountReads(deps), ...orderReads(deps), ...marketReads(house), ...lists()]) reading.add(app, route)
    const ordering = new DialectRouter(house, access.tongue('place'))
    for (const route of placing(deps)) ordering.add(app, route)
    const amending = new DialectRouter(house, access.tongue('change'))
    for (const route of changing(deps)) amending.add(app, route)
    account.mount(app, [...orders.routes(), ...positions.routes()])
    market.mount(app, [...quoteStreams(house), ...barStreams(house), ...depthStreams(house), ...optionStreams(house)])
  }
  return {
    name: 'tradestation',
    mount: app => {
      mountOAuth(app, oauth)
      // Whoever reads is told to come back while their connections still stand.
      app.addHook('preClose', async () => {
        account.close()
        market.close()
      })
      app.register(async scope => routes(scope), { prefix: '/tradestation/v3' })
    },
    entrances: [],
    mint: (login, scopes) => mint(oauth, login, scopes),
    endLogin: (login, refreshOnly) => grants.endLogin(login, refreshOnly),
    limits: { shown: () => modes.shown(), set: body => modes.set(body) },
    misbehave: (on, order) => (on === 'account' ? account : market).misbehave(order),
    report: () => [...account.report(), ...market.report()],
    reset: () => {
      modes.reset()
      sights.reset()
      meter.reset()
      account.reset()
      market.reset()
    },
    close: () => {
      sights[Symbol.dispose]()
      orders[Symbol.dispose]()
      positions[Symbol.dispose]()
      account.close()
      market.close()
      grants.close()
    }
  }
}

/** A DELETE comes with a content type and nothing of it. */
function acceptEmpty(app: FastifyInstance): void {
  takeJsonBodies(app, { empty: 'absent' })
}
