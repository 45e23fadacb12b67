/** The sandbox as Tradier's brokerage API: what it does and does not do is in README.md. */

import formbody from '@fastify/formbody'
import type { FastifyInstance } from 'fastify'
import type { Dialect, OpenDialect } from '../frame/brokerage.ts'
import type { BrokerageView } from '../frame/brokerage-view.ts'
import { OAuth } from '../frame/oauth.ts'
import { Quotas } from '../frame/quotas.ts'
import { DialectRouter } from '../frame/router.ts'
import { Accounts } from './accounts.ts'
import { LastTrades } from './market/last-trades.ts'
import { NAME, tradierOAuth } from './oauth.ts'
import { DEFAULT_OPTIONS, type TradierOptions } from './options.ts'
import { Late } from './orders/late.ts'
import { Notes } from './orders/notes.ts'
import { TradierOrders } from './orders/tradier-orders.ts'
import { BASE, tradierProtocol } from './protocol.ts'
import { routes } from './routes.ts'
import { AccountStream } from './streams/account.ts'
import { MarketStream } from './streams/market.ts'

export const tradier: OpenDialect = brokerage => openTradier(brokerage)

/** What is left out of `parts` is as the sandbox has it. */
export function openTradier(brokerage: BrokerageView, parts: Partial<TradierOptions> = {}): Dialect {
  const options = { ...DEFAULT_OPTIONS, ...parts }
  const { realNow, timers } = brokerage
  const oauth: OAuth = new OAuth(brokerage, tradierOAuth(brokerage, options.accessTtlS), grant => {
    accountStream.connections.endGrant(grant)
    marketStream.connections.endGrant(grant)
  })
  const { grants } = oauth
  const notes = new Notes(brokerage.inFolder('tradier-orders.jsonl'))
  const late = new Late({ seed: brokerage.seed, ...options.lateAverage, later: (ms, work) => timers.later(ms, work) })
  const accounts = new Accounts(brokerage)
  const view = new TradierOrders({ brokerage, notes, late })
  const lastTrades = new LastTrades(brokerage)
  const shared = { brokerage, options, accounts, view, notes, late, lastTrades }
  const accountStream: AccountStream = new AccountStream(shared, `/${NAME}/ws/v1/accounts/events`)
  const marketStream: MarketStream = new MarketStream(shared, `/${NAME}/ws/v1/markets/events`)
  const streams = { account: accountStream, market: marketStream }
  const router = new DialectRouter(brokerage, tradierProtocol({ grants, quotas: new Quotas(realNow), limits: options.limits }))
  return {
    name: NAME,
    mount: app => {
      oauth.mount(app)
      mountApi(app, router, { ...shared, accountStream, marketStream })
    },
    endpoints: [accountStream.endpoint, marketStream.endpoint],
    mint: oauth.mint,
    endLogin: (login, refreshOnly) => grants.endLogin(login, refreshOnly),
    injectFault: (on, order) => streams[on].connections.injectFault(order),
    report: () => [...accountStream.connections.report('account'), ...marketStream.connections.report('market')],
    reset: () => {
      notes.clear()
      accountStream.reset()
      marketStream.reset()
      lastTrades.close()
    },
    close: () => {
      accountStream.close()
      marketStream.close()
      lastTrades.close()
      grants.close()
      notes.close()
    }
  }
}

function mountApi(app: FastifyInstance, router: DialectRouter, parts: Parameters<typeof routes>[0]): void {
  app.register(
    async scope => {
      // Forms are read; any other body is ignored.
      scope.removeAllContentTypeParsers()
      await scope.register(formbody)
      scope.addContentTypeParser('*', { parseAs: 'string' }, (_request, _body, done) => done(null, {}))
      router.addRefusals(scope)
      for (const route of routes(parts)) router.add(scope, route)
    },
    { prefix: BASE }
  )
}
