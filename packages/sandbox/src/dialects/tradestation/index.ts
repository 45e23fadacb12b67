/** The sandbox speaking as TradeStation does: see README.md for what is emulated and what is not. */

import type { FastifyInstance } from 'fastify'
import { Cursors, type Dialect, type OpenDialect, takeJsonBodies } from '../frame/brokerage.ts'
import type { BrokerageView } from '../frame/brokerage-view.ts'
import { OAuth } from '../frame/oauth.ts'
import { type DialectRoute, DialectRouter } from '../frame/router.ts'
import { Access, DEFAULT_OPTIONS, type Options } from './access.ts'
import { accountReads, positionStream } from './account.ts'
import { problemAnswer, type Refusals } from './answers.ts'
import { marketReads, marketStreams } from './market.ts'
import { tradestationOAuth } from './oauth.ts'
import { orderReads, orderStream } from './orders.ts'
import { changing, placing } from './placing.ts'
import { type StreamRoute, Streams } from './streams.ts'

/** What is left out of `options` is {@link DEFAULT_OPTIONS}'. */
export function tradestation(options: Partial<Options> = {}): OpenDialect {
  return brokerage => open(brokerage, { ...DEFAULT_OPTIONS, ...options })
}

function open(brokerage: BrokerageView, options: Options): Dialect {
  const endGrant = (grant: string) => both(({ connections }) => connections.endGrant(grant))
  const oauth = new OAuth(brokerage, tradestationOAuth(brokerage), endGrant)
  const { grants } = oauth
  const access = new Access(brokerage, grants, options)
  const account = new Streams(brokerage, access, 'account')
  const market = new Streams(brokerage, access, 'market')
  const both = (handle: (streams: Streams) => void) => [account, market].forEach(handle)
  const stream = '/brokerage/stream/accounts/:accounts'
  const accountStreams: readonly StreamRoute[] = [
    { path: `${stream}/orders`, open: call => orderStream(brokerage, call, options.oddityChance) },
    { path: `${stream}/positions`, open: call => positionStream(brokerage, call) }
  ]
  const reads = { brokerage, cursors: new Cursors(Buffer.from(brokerage.newId())) }
  const routes = (app: FastifyInstance) => {
    // Clients read from it the clock that orders are dated by.
    app.addHook('onRequest', async (_request, reply) => {
      reply.raw.setHeader('date', new Date(Math.floor(brokerage.clock.now() / 1_000)).toUTCString())
    })
    // A DELETE comes with a content type and nothing of it.
    takeJsonBodies(app, { empty: 'absent' })
    const router = (refusals: Refusals, routes: readonly DialectRoute[]) => {
      const made = new DialectRouter(brokerage, {
        admit: request => access.admit(request),
        headers: request => access.headers(request),
        problem: (problem, code) => problemAnswer(problem, code, refusals),
        created: 200
      })
      for (const route of routes) made.add(app, route)
      return made
    }
    router('read', [...accountReads(brokerage), ...orderReads(reads), ...marketReads(brokerage)]).addRefusals(app)
    router('place', placing(brokerage))
    router('change', changing(brokerage))
    account.mount(app, accountStreams)
    market.mount(app, marketStreams(brokerage))
  }
  return {
    name: 'tradestation',
    mount: app => {
      oauth.mount(app)
      // Readers receive a GoAway while their connections are still open.
      app.addHook('preClose', async () => both(streams => streams.close()))
      app.register(async scope => routes(scope), { prefix: '/tradestation/v3' })
    },
    endpoints: [],
    mint: oauth.mint,
    endLogin: (login, refreshOnly) => grants.endLogin(login, refreshOnly),
    injectFault: (on, order) => (on === 'account' ? account : market).connections.injectFault(order),
    report: () => [...account.connections.report('account'), ...market.connections.report('market')],
    reset: () => {
      access.reset()
      both(({ connections }) => connections.reset())
    },
    close: () => {
      both(streams => streams.close())
      grants.close()
    }
  }
}
