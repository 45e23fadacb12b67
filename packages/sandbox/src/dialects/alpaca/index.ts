/** The sandbox brokerage as Alpaca: REST below `/alpaca/api` and `/alpaca/data`, streams beside them, OAuth below `/alpaca/oauth`. */

import type { FastifyInstance } from 'fastify'
import { type Dialect, takeJsonBodies } from '../frame/brokerage.ts'
import type { BrokerageView } from '../frame/brokerage-view.ts'
import { OAuth } from '../frame/oauth.ts'
import { type DialectRoute, DialectRouter } from '../frame/router.ts'
import { Access, type Host } from './access.ts'
import { accountRoutes } from './account.ts'
import { AccountStream } from './account-stream.ts'
import { dataProblemAnswer, problemAnswer } from './answers.ts'
import { CustomerView } from './customer-view.ts'
import { contractRoutes, dataRoutes } from './data/routes.ts'
import { DataSource } from './data/source.ts'
import { DataStream, STREAMS } from './data/stream.ts'
import { alpacaOAuth } from './oauth.ts'
import { orderRoutes } from './orders.ts'

export function alpaca(brokerage: BrokerageView): Dialect {
  const customerView = new CustomerView(brokerage)
  const source = new DataSource(brokerage, customerView)
  const connections = () => [account, ...data].map(stream => stream.connections)
  const endGrant = (grant: string) => {
    for (const each of connections()) each.endGrant(grant)
  }
  const oauth = new OAuth(brokerage, alpacaOAuth(customerView), endGrant)
  const access = new Access(brokerage, oauth.grants)
  const account: AccountStream = new AccountStream({ brokerage, access, customerView })
  const data: readonly DataStream[] = STREAMS.map(stream => new DataStream(access, source, stream))
  const following = brokerage.publisher.follow(account)
  const deps = { brokerage, customerView }
  return {
    name: 'alpaca',
    mount: app => {
      oauth.mount(app)
      open(app, { brokerage, access, host: 'api', routes: [...accountRoutes(deps), ...orderRoutes(deps), ...contractRoutes(source)] })
      open(app, { brokerage, access, host: 'data', routes: dataRoutes(source) })
    },
    endpoints: [account, ...data].map(({ endpoint }) => endpoint),
    mint: oauth.mint,
    keys: login => {
      const customer = brokerage.customers.byId(login)
      if (customer === undefined) return {}
      const { keyId, secret } = access.pairOf(customer)
      return { key_id: keyId, secret_key: secret }
    },
    limits: { shown: () => access.limits, set: body => access.setLimits(body) },
    endLogin: (login, refreshOnly) => {
      // There are no refresh tokens here: anyone who is to lose them loses nothing.
      if (refreshOnly) return 0
      const key = access.revokeKeys(login)
      if (key !== null) endGrant(key)
      return oauth.grants.endLogin(login, false)
    },
    injectFault: (on, order) => {
      const meant = on === 'account' ? [account] : data
      return meant.reduce((sum, stream) => sum + stream.connections.injectFault(order), 0)
    },
    report: () => [...account.connections.report('account'), ...data.flatMap(stream => stream.connections.report('market'))],
    reset: () => {
      customerView.pendingReplacements.clear()
      access.reset()
      account.reset()
      for (const stream of data) stream.connections.reset()
    },
    close: () => {
      following[Symbol.dispose]()
      for (const each of connections()) each.close()
      oauth.grants.close()
      access.close()
    }
  }
}

interface HostDeps {
  readonly brokerage: BrokerageView
  readonly access: Access
  readonly host: Host
  readonly routes: readonly DialectRoute[]
}

function open(app: FastifyInstance, { brokerage, access, host, routes }: HostDeps): void {
  const prefix = `/alpaca/${host}`
  const router = new DialectRouter(brokerage, {
    admit: request => access.admit(request, host),
    problem: host === 'api' ? problemAnswer : dataProblemAnswer,
    headers: request => ({ 'x-request-id': request.id, ...access.headers(request, host) }),
    created: 200
  })
  app.register(
    async scope => {
      // A DELETE may declare a JSON body and have none.
      takeJsonBodies(scope, { empty: 'absent', message: 'request body format is invalid' })
      router.addRefusals(scope)
      for (const route of routes) router.add(scope, { ...route, path: route.path.slice(prefix.length) })
    },
    { prefix }
  )
}
