/** The sandbox brokerage as Alpaca: REST below `/alpaca/api` and `/alpaca/data`, streams beside them, OAuth below `/alpaca/oauth`. */

import type { FastifyInstance } from 'fastify'
import { type Dialect, takeJsonBodies } from '../frame/brokerage.ts'
import type { BrokerageView } from '../frame/brokerage-view.ts'
import { OAuth } from '../frame/oauth.ts'
import { DialectRouter } from '../frame/router.ts'
import { Access, type Host } from './access.ts'
import { accountRoutes } from './account.ts'
import { AccountStream } from './account-stream.ts'
import { dataProblemAnswer, problemAnswer } from './answers.ts'
import { CustomerView } from './customer-view.ts'
import { contractRoutes, dataRoutes } from './data.ts'
import { dataStreams } from './data-stream.ts'
import { alpacaOAuth } from './oauth.ts'
import { orderRoutes } from './orders.ts'

export function alpaca(brokerage: BrokerageView): Dialect {
  const view = new CustomerView(brokerage)
  const endGrant = (grant: string) => {
    for (const { connections } of all) connections.endGrant(grant)
  }
  const oauth = new OAuth(brokerage, alpacaOAuth(view), endGrant)
  const access = new Access(brokerage, oauth.grants)
  const account = new AccountStream(view, access)
  const data = dataStreams(view, access)
  const all = [account.sockets, ...data]
  const following = brokerage.publisher.follow(account)
  const hosts = {
    api: { routes: [...accountRoutes(view), ...orderRoutes(view), ...contractRoutes(view)], problem: problemAnswer },
    data: { routes: dataRoutes(view), problem: dataProblemAnswer }
  }
  const open = (app: FastifyInstance, host: Host) => {
    const { routes, problem } = hosts[host]
    const prefix = `/alpaca/${host}`
    const router = new DialectRouter(brokerage, {
      admit: request => access.admit(request, host),
      headers: request => ({ 'x-request-id': request.id, ...access.headers(request) }),
      ...{ problem, created: 200 }
    })
    const mounted = async (scope: FastifyInstance) => {
      // A DELETE may declare a JSON body and have none.
      takeJsonBodies(scope, { empty: 'absent', message: 'request body format is invalid' })
      router.addRefusals(scope)
      for (const route of routes) router.add(scope, { ...route, path: route.path.slice(prefix.length) })
    }
    app.register(mounted, { prefix })
  }
  return {
    name: 'alpaca',
    mount: app => {
      oauth.mount(app)
      for (const host of ['api', 'data'] as const) open(app, host)
    },
    endpoints: all.map(({ endpoint }) => endpoint),
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
      const customer = brokerage.customers.byId(login)
      if (customer !== undefined) endGrant(access.revokeKeys(customer))
      return oauth.grants.endLogin(login, false)
    },
    injectFault: (on, order) =>
      (on === 'account' ? [account.sockets] : data).reduce((sum, { connections }) => sum + connections.injectFault(order), 0),
    report: () => [...account.sockets.connections.report('account'), ...data.flatMap(({ connections }) => connections.report('market'))],
    reset: () => {
      view.pendingReplacements.clear()
      access.reset()
      account.reset()
      for (const { connections } of data) connections.reset()
    },
    close: () => {
      following[Symbol.dispose]()
      for (const { connections } of all) connections.close()
      oauth.grants.close()
    }
  }
}
