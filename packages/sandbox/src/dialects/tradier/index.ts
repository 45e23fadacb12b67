/** The sandbox as Tradier's brokerage API: what it does and does not do is in README.md. */

import formbody from '@fastify/formbody'
import type { FastifyInstance } from 'fastify'
import type { Dialect, OpenDialect } from '../frame/brokerage.ts'
import type { BrokerageView } from '../frame/brokerage-view.ts'
import { OAuth } from '../frame/oauth.ts'
import { type Call, DialectRouter } from '../frame/router.ts'
import { BASE, DEFAULT_OPTIONS, type Options, tradierOAuth, tradierProtocol } from './access.ts'
import { accountRoutes } from './account.ts'
import { accountStream } from './account-stream.ts'
import { route } from './answers.ts'
import { marketRoutes, marketStream } from './market.ts'
import { TradierOrders } from './order-wire.ts'
import { orderRoutes } from './orders.ts'
import type { Streams } from './streams.ts'

/** What is left out of `options` is {@link DEFAULT_OPTIONS}'. */
export function tradier(options: Partial<Options> = {}): OpenDialect {
  return brokerage => open(brokerage, { ...DEFAULT_OPTIONS, ...options })
}

function open(brokerage: BrokerageView, options: Options): Dialect {
  const oauth: OAuth = new OAuth(brokerage, tradierOAuth(brokerage), grant => both(({ connections }) => connections.endGrant(grant)))
  const orders = new TradierOrders(brokerage, options)
  const account = accountStream(brokerage, orders)
  const market = marketStream(brokerage)
  const both = (handle: (streams: Streams) => void) => [account, market].forEach(handle)
  const router = new DialectRouter(brokerage, tradierProtocol(brokerage, oauth.grants, options.limits))
  const routes = [
    ...[...accountRoutes(brokerage), ...orderRoutes({ brokerage, orders }), ...marketRoutes(brokerage)],
    route('POST', '/accounts/events/session', 'me.get', call => sessionOf(account, call, '/accounts/events')),
    route('POST', '/markets/events/session', 'me.get', call => sessionOf(market, call, '/markets/events'))
  ]
  return {
    name: 'tradier',
    mount: app => {
      oauth.mount(app)
      app.register(async scope => await mountApi(scope, router, routes), { prefix: BASE })
    },
    endpoints: [account.endpoint, market.endpoint],
    mint: oauth.mint,
    endLogin: (login, refreshOnly) => oauth.grants.endLogin(login, refreshOnly),
    injectFault: (on, order) => (on === 'account' ? account : market).connections.injectFault(order),
    report: () => [...account.connections.report('account'), ...market.connections.report('market')],
    reset: () => both(streams => streams.reset()),
    close: () => {
      account[Symbol.dispose]()
      market.connections.close()
      oauth.grants.close()
    }
  }
}

async function mountApi(scope: FastifyInstance, router: DialectRouter, routes: readonly ReturnType<typeof route>[]): Promise<void> {
  // Forms are read; any other body is ignored.
  scope.removeAllContentTypeParsers()
  await scope.register(formbody)
  scope.addContentTypeParser('*', { parseAs: 'string' }, (_request, _body, done) => done(null, {}))
  router.addRefusals(scope)
  for (const each of routes) router.add(scope, each)
}

/** Its address is that of the HTTP stream, which is not emulated. */
function sessionOf(streams: Streams, { request, pass }: Call, path: string): object {
  return { stream: { url: `http://${request.headers.host}${BASE}${path}`, sessionid: streams.session(pass) } }
}
