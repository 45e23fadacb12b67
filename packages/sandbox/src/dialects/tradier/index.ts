/** The sandbox as Tradier's brokerage API: what it does and does not do is in README.md. */

import formbody from '@fastify/formbody'
import type { FastifyInstance } from 'fastify'
import type { Dialect, DialectHouse, OpenDialect } from '../../house/dialect.ts'
import { Grants } from '../frame/grants.ts'
import { DialectRouter } from '../frame/router.ts'
import { Accounts } from './accounts.ts'
import { Limits } from './limits.ts'
import { Greeks } from './market/greeks.ts'
import { Tape } from './market/tape.ts'
import { mint, mountOAuth, NAME, type OAuthDeps } from './oauth.ts'
import { DEFAULT_OPTIONS, type TradierOptions } from './options.ts'
import { DeskView } from './orders/desk-view.ts'
import { Late } from './orders/late.ts'
import { Notes } from './orders/notes.ts'
import { routes } from './routes.ts'
import { AccountStream } from './streams/account.ts'
import { mountHttpStream } from './streams/http.ts'
import { MarketStream } from './streams/market.ts'
import { BASE, tradierTongue } from './tongue.ts'

export const tradier: OpenDialect = house => openTradier(house)

/** What is left out of `parts` is as the sandbox has it. */
export function openTradier(house: DialectHouse, parts: Partial<TradierOptions> = {}): Dialect {
  const options = { ...DEFAULT_OPTIONS, ...parts }
  const { realNow, newId, timers } = house
  const grants: Grants = new Grants({
    file: house.inFolder('tradier-grants.jsonl'),
    now: realNow,
    newId,
    onEnded: grant => {
      accountStream.lines.endGrant(grant)
      marketStream.lines.endGrant(grant)
    }
  })
  const notes = new Notes(house.inFolder('tradier-orders.jsonl'))
  const late = new Late({ seed: house.seed, ...options.lateAverage, later: (ms, work) => timers.later(ms, work) })
  const accounts = new Accounts(house)
  const view = new DeskView({ house, notes, late })
  const tape = new Tape(house)
  const shared = { house, options, accounts, view, notes, late, tape, greeks: new Greeks(house) }
  const accountStream: AccountStream = new AccountStream(shared, `/${NAME}/ws/v1/accounts/events`)
  const marketStream: MarketStream = new MarketStream(shared, `/${NAME}/ws/v1/markets/events`)
  const streams = { account: accountStream, market: marketStream }
  const oauth: OAuthDeps = { house, grants, options }
  const router = new DialectRouter(house, tradierTongue({ grants, limits: new Limits(options.limits, realNow) }))
  return {
    name: NAME,
    mount: app => {
      mountOAuth(app, oauth)
      mountApi(app, router, { ...shared, accountStream, marketStream })
    },
    entrances: [accountStream.entrance, marketStream.entrance],
    mint: (login, scopes) => mint(oauth, login, scopes),
    endLogin: (login, refreshOnly) => grants.endLogin(login, refreshOnly),
    misbehave: (on, order) => streams[on].lines.misbehave(order),
    report: () => [...accountStream.lines.report('account'), ...marketStream.lines.report('market')],
    reset: () => {
      notes.clear()
      accountStream.reset()
      marketStream.reset()
      tape.close()
    },
    close: () => {
      accountStream.close()
      marketStream.close()
      tape.close()
      grants.close()
      notes.close()
    }
  }
}

function mountApi(app: FastifyInstance, router: DialectRouter, parts: Parameters<typeof routes>[0]): void {
  app.register(
    async scope => {
      // Forms are read; whatever else is sent is taken and passed over.
      scope.removeAllContentTypeParsers()
      await scope.register(formbody)
      scope.addContentTypeParser('*', { parseAs: 'string' }, (_request, _body, done) => done(null, {}))
      router.addRefusals(scope)
      for (const route of routes(parts)) router.add(scope, route)
      mountHttpStream(scope, parts.house, parts.marketStream)
    },
    { prefix: BASE }
  )
}
