/** The control API's routes for customers and their grants. */

import { shown } from '@trunkline/core/domain/malformed'
import { ACCOUNT_KINDS, USERNAME_EXPECTED, USERNAME_PATTERN } from '../../control-terms.ts'
import type { Customer, Customers, NewAccount } from '../customers.ts'
import type { Dialect } from '../dialect.ts'
import type { GrantStore } from '../oauth/grants.ts'
import { SCOPES } from '../oauth/scopes.ts'
import { Problem } from '../problems.ts'
import { Fields } from '../read.ts'
import type { ControlRoute } from './server.ts'

export interface MintedTokens {
  readonly accessToken: string
  readonly refreshToken: string
  readonly expiresIn: number
}

export interface LoginControl {
  readonly customers: Customers
  readonly grants: GrantStore
  readonly dialects: readonly Dialect[]
  /** Opens the accounts that the engine does not have yet. */
  readonly openAccounts: () => void
  readonly mint: (login: string, scopes: readonly string[]) => Promise<MintedTokens>
  readonly setOAuth: (settings: { readonly accessTtlS?: number; readonly refreshGraceMs?: number }) => object
}

const USERNAME = new RegExp(USERNAME_PATTERN)
const ACCOUNTS_MAX = 20
const NAME_MAX = 64
const CASH_DEFAULT = '100000'
/** The first deposits that the engine accepts. */
const CASH = /^\d{1,10}(?:\.\d{1,9})?$/

export function loginRoutes(deps: LoginControl): readonly ControlRoute[] {
  const { customers, grants } = deps
  return [
    { method: 'GET', path: '/logins', handle: () => ({ items: customers.all().map(customer => loginWire(deps, customer)) }) },
    { method: 'POST', path: '/logins', status: 201, handle: ({ body }) => createLogin(deps, body) },
    {
      method: 'POST',
      path: '/logins/:id/accounts',
      status: 201,
      handle: ({ param, body }) => {
        const customer = customerNamed(customers, param)
        if (customers.accountsOf(customer.id).length >= ACCOUNTS_MAX)
          throw new Problem('bad_request', `at most ${ACCOUNTS_MAX} accounts per login`)
        customers.addAccount(customer, accountOf(body))
        deps.openAccounts()
        return { login: loginWire(deps, customer) }
      }
    },
    {
      method: 'POST',
      path: '/logins/:id/revoke',
      handle: ({ param, body }) => {
        const refreshOnly = new Fields(body, ['refresh_only']).flagOr('refresh_only') ?? false
        const { id } = customerNamed(customers, param)
        const ended = deps.dialects.map(dialect => dialect.endLogin(id, refreshOnly))
        return { grants: ended.reduce((sum, count) => sum + count, grants.endLogin(id, refreshOnly)) }
      }
    },
    {
      method: 'POST',
      path: '/logins/:id/token',
      status: 201,
      handle: async ({ param, body }) => {
        const fields = new Fields(body, ['scopes', 'dialect'])
        const scopes = fields.listOr('scopes') ?? SCOPES
        const known = SCOPES.filter(scope => scopes.includes(scope))
        const dialect = fields.textOr('dialect')
        if (dialect !== null) return { credentials: dialectNamed(deps.dialects, dialect).mint(customerNamed(customers, param).id, known) }
        const { accessToken, refreshToken, expiresIn } = await deps.mint(customerNamed(customers, param).id, known)
        return { access_token: accessToken, refresh_token: refreshToken, expires_in: expiresIn, scope: known.join(' ') }
      }
    },
    {
      method: 'PUT',
      path: '/oauth',
      handle: ({ body }) => {
        const fields = new Fields(body, ['access_ttl_s', 'refresh_grace_ms'])
        const accessTtlS = fields.countOr('access_ttl_s', 1, 86_400)
        const refreshGraceMs = fields.countOr('refresh_grace_ms', 0, 3_600_000)
        return deps.setOAuth({ ...(accessTtlS === null ? {} : { accessTtlS }), ...(refreshGraceMs === null ? {} : { refreshGraceMs }) })
      }
    }
  ]
}

export function loginWire({ customers, dialects }: Pick<LoginControl, 'customers' | 'dialects'>, customer: Customer): object {
  const keys = Object.fromEntries(dialects.flatMap(({ name, keys }) => (keys === undefined ? [] : [[name, keys(customer.id)]])))
  const accounts = customers.accountsOf(customer.id).map(({ id, number, name, kind }) => ({ id, number, name, kind }))
  return { id: customer.id, username: customer.username, password: customer.password, name: customer.name, accounts, keys }
}

function createLogin(deps: LoginControl, body: unknown): object {
  const { customers, openAccounts } = deps
  const fields = new Fields(body, ['username', 'password', 'name', 'accounts'])
  const accounts = (fields.listOr('accounts') ?? [{ kind: 'margin' }, { kind: 'cash' }, { kind: 'coin' }]).map(accountOf)
  if (accounts.length > ACCOUNTS_MAX) throw new Problem('bad_request', `at most ${ACCOUNTS_MAX} accounts per login`, { field: 'accounts' })
  const { customer } = customers.add({
    username: usernameOf(fields),
    password: fields.nameOr('password', 128),
    name: fields.titleOr('name', NAME_MAX),
    accounts
  })
  openAccounts()
  return { login: loginWire(deps, customer) }
}

function usernameOf(fields: Fields): string | null {
  const username = fields.textOr('username')
  if (username === null || USERNAME.test(username)) return username
  throw new Problem('bad_request', `username must be ${USERNAME_EXPECTED}, was ${shown(username)}`, { field: 'username' })
}

function accountOf(value: unknown): NewAccount {
  const fields = new Fields(value, ['kind', 'cash', 'name'])
  const cash = fields.decimalOr('cash') ?? CASH_DEFAULT
  // Checked before the user is stored; otherwise every later start would try to open an account that the engine refuses.
  if (!CASH.test(cash)) throw new Problem('bad_request', 'cash must be zero to 9999999999.999999999', { field: 'cash' })
  return { kind: fields.member('kind', ACCOUNT_KINDS), cash, name: fields.titleOr('name', NAME_MAX) }
}

/** @throws Problem `bad_request` */
export function dialectNamed(dialects: readonly Dialect[], name: string): Dialect {
  const found = dialects.find(dialect => dialect.name === name)
  if (found !== undefined) return found
  const known = dialects.map(dialect => dialect.name).join(', ') || 'none'
  throw new Problem('bad_request', `no dialect ${name.slice(0, 40)}; there is ${known}`, { field: 'dialect' })
}

export function customerNamed(customers: Customers, username: string): Customer {
  const customer = customers.byUsername(username)
  if (customer === undefined) throw new Problem('unknown_login', `no login ${username.slice(0, 64)}; GET /logins lists them`)
  return customer
}
