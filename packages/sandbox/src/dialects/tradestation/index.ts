/** The sandbox speaking as TradeStation does: see README.md for what is emulated and what is not. */

import type { FastifyInstance } from 'fastify'
import { Cursors, type Dialect, type OpenDialect, takeJsonBodies } from '../frame/brokerage.ts'
import type { BrokerageView } from '../frame/brokerage-view.ts'
import { OAuth } from '../frame/oauth.ts'
import { Quotas } from '../frame/quotas.ts'
import { DialectRouter } from '../frame/router.ts'
import { accountReads } from './account-reads.ts'
import { AccountViews } from './account-views.ts'
import { barStreams } from './bar-stream.ts'
import { depthStreams } from './depth-stream.ts'
import { changing, placing } from './execution.ts'
import { marketReads } from './market-reads.ts'
import { tradestationOAuth } from './oauth.ts'
import { optionStreams } from './option-stream.ts'
import { DEFAULT_OPTIONS, Modes, type TradestationOptions } from './options.ts'
import { orderReads } from './order-reads.ts'
import { OrderStreams } from './order-stream.ts'
import { PositionStreams } from './position-stream.ts'
import { Access } from './protocol.ts'
import { quoteStreams } from './quote-stream.ts'
import { StreamServer } from './stream-server.ts'

export type { TradestationOptions } from './options.ts'

/** What is left out of `parts` is {@link DEFAULT_OPTIONS}'. */
export function tradestation(parts: Partial<TradestationOptions> = {}): OpenDialect {
  const options = { ...DEFAULT_OPTIONS, ...parts }
  return brokerage => open(brokerage, new Modes(options))
}

function open(brokerage: BrokerageView, modes: Modes): Dialect {
  const oauth: OAuth = new OAuth(brokerage, tradestationOAuth(brokerage, modes), grant => {
    account.endGrant(grant)
    market.endGrant(grant)
  })
  const { grants } = oauth
  const quotas = new Quotas(brokerage.realNow)
  const access = new Access({ grants, quotas, modes, now: brokerage.realNow })
  const views = new AccountViews(brokerage)
  const account = new StreamServer({ brokerage, access, modes, on: 'account' })
  const market = new StreamServer({ brokerage, access, modes, on: 'market' })
  const orders = new OrderStreams({ brokerage, views, modes })
  const positions = new PositionStreams({ brokerage, views })
  const deps = { brokerage, views, cursors: new Cursors(Buffer.from(brokerage.newId())) }
  const routes = (app: FastifyInstance) => {
    // Clients read from it the clock that orders are dated by.
    app.addHook('onRequest', async (_request, reply) => {
      reply.raw.setHeader('date', new Date(Math.floor(brokerage.clock.now() / 1_000)).toUTCString())
    })
    acceptEmpty(app)
    const reading = new DialectRouter(brokerage, access.protocol('read'))
    reading.addRefusals(app)
    for (const route of [...accountReads(deps), ...orderReads(deps), ...marketReads(brokerage)]) reading.add(app, route)
    const ordering = new DialectRouter(brokerage, access.protocol('place'))
    for (const route of placing(deps)) ordering.add(app, route)
    const amending = new DialectRouter(brokerage, access.protocol('change'))
    for (const route of changing(deps)) amending.add(app, route)
    account.mount(app, [...orders.routes(), ...positions.routes()])
    market.mount(app, [...quoteStreams(brokerage), ...barStreams(brokerage), ...depthStreams(brokerage), ...optionStreams(brokerage)])
  }
  return {
    name: 'tradestation',
    mount: app => {
      oauth.mount(app)
      // Readers receive a GoAway while their connections are still open.
      app.addHook('preClose', async () => {
        account.close()
        market.close()
      })
      app.register(async scope => routes(scope), { prefix: '/tradestation/v3' })
    },
    endpoints: [],
    mint: oauth.mint,
    endLogin: (login, refreshOnly) => grants.endLogin(login, refreshOnly),
    limits: { shown: () => modes.shown(), set: body => modes.set(body) },
    injectFault: (on, order) => (on === 'account' ? account : market).injectFault(order),
    report: () => [...account.report(), ...market.report()],
    reset: () => {
      modes.reset()
      views.reset()
      quotas.reset()
      account.reset()
      market.reset()
    },
    close: () => {
      views[Symbol.dispose]()
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
