/** The customers and their accounts. The seed has demo customers; more are created on demand. */

import { createHmac, timingSafeEqual } from 'node:crypto'
import type { AccountKind } from '../control-terms.ts'
import type { AccountType } from '../engine/types.ts'
import { Journal } from './journal.ts'
import { Problem } from './problems.ts'

export const ENGINE_TYPE = { margin: 'margin', cash: 'cash', coin: 'crypto', futures: 'futures' } as const satisfies Record<
  AccountKind,
  AccountType
>

export interface Customer {
  readonly id: string
  readonly username: string
  /** In plain text: the sandbox prints it at the start, and it protects only practice money. */
  readonly password: string
  readonly name: string
  /** Whether it is one of the demo customers. */
  readonly demo: boolean
}

export interface Account {
  readonly id: string
  readonly number: string
  readonly name: string
  readonly kind: AccountKind
  /** The owner's id. */
  readonly person: string
  /** The first deposit. */
  readonly cash: string
  readonly demo: boolean
}

export interface NewAccount {
  readonly kind: AccountKind
  readonly cash: string
  readonly name: string | null
}

export interface NewCustomer {
  readonly username: string | null
  readonly password: string | null
  readonly name: string | null
  readonly accounts: readonly NewAccount[]
}

/**
 * Customers, and accounts of them all together. With the longest names, all of them are an answer of less than 4 MiB, which is
 * what the service takes of one.
 */
export const CUSTOMERS_MAX = 2_000
export const ACCOUNTS_MAX = 6_000

type Entry = { readonly person: Customer } | { readonly account: Account } | { readonly gone: string }

const ACCOUNT_NAME = { margin: 'Margin', cash: 'Cash', coin: 'Crypto', futures: 'Futures' } as const satisfies Record<AccountKind, string>

const DEMO: readonly (NewCustomer & { readonly username: string })[] = [
  { username: 'alex', password: null, name: 'Alex Morgan', accounts: opening('100000', '25000', '50000', '100000') },
  { username: 'robin', password: null, name: 'Robin Okafor', accounts: opening('250000', '40000', '20000', '150000') }
]

function opening(margin: string, cash: string, coin: string, futures: string): readonly NewAccount[] {
  return [
    { kind: 'margin', cash: margin, name: null },
    { kind: 'cash', cash, name: null },
    { kind: 'coin', cash: coin, name: null },
    { kind: 'futures', cash: futures, name: null }
  ]
}

export class Customers {
  readonly #seed: string
  readonly #byId = new Map<string, Customer>()
  readonly #byUsername = new Map<string, Customer>()
  readonly #accounts = new Map<string, Account>()
  readonly #accountsOf = new Map<string, readonly Account[]>()
  readonly #journal: Journal<Entry> | null

  /** `file` null: customers created on demand do not survive the process. */
  constructor(seed: string, file: string | null) {
    this.#seed = `sandbox people ${seed}`
    this.#journal = file === null ? null : new Journal<Entry>(file, entry => this.#apply(entry))
    if (this.#byId.size === 0) for (const customer of DEMO) this.#make(customer, true)
    else this.#complete()
  }

  all(): readonly Customer[] {
    return [...this.#byId.values()]
  }

  byId(id: string): Customer | undefined {
    return this.#byId.get(id)
  }

  byUsername(username: string): Customer | undefined {
    return this.#byUsername.get(username)
  }

  /** The customer, if the password is right. */
  check(username: string, password: string): Customer | undefined {
    const customer = this.#byUsername.get(username)
    const right = this.#digest(customer?.password ?? '')
    return timingSafeEqual(right, this.#digest(password)) ? customer : undefined
  }

  accounts(): readonly Account[] {
    return [...this.#accounts.values()]
  }

  account(id: string): Account | undefined {
    return this.#accounts.get(id)
  }

  accountsOf(customer: string): readonly Account[] {
    return this.#accountsOf.get(customer) ?? []
  }

  /** @throws Problem `login_taken`; `bad_request` beyond {@link CUSTOMERS_MAX} and {@link ACCOUNTS_MAX} */
  add(wanted: NewCustomer): { readonly customer: Customer; readonly accounts: readonly Account[] } {
    const username = wanted.username ?? this.#freeUsername()
    if (this.#byUsername.has(username)) throw new Problem('login_taken', `there is a login ${username} already`, { field: 'username' })
    if (this.#byId.size >= CUSTOMERS_MAX) throw new Problem('bad_request', `there are ${CUSTOMERS_MAX} logins, the most: reset the sandbox`)
    this.#demandCapacity(wanted.accounts.length)
    return this.#make({ ...wanted, username }, false)
  }

  /** @throws Problem `bad_request` beyond {@link ACCOUNTS_MAX} */
  addAccount(customer: Customer, wanted: NewAccount, demo = false): Account {
    // A folder of before the bound opens all the same.
    if (!demo) this.#demandCapacity(1)
    // Accounts created on demand can be removed, so the count alone would give two of them the same name.
    let nth = this.accountsOf(customer.id).length
    while (this.#accounts.has(this.#accountId(customer, nth))) nth++
    const mark = this.#mark(`account ${customer.username} ${nth}`)
    const account: Account = {
      id: this.#accountId(customer, nth),
      number: `SB${String(Number.parseInt(mark.slice(16, 24), 16))
        .padStart(10, '0')
        .slice(-8)}`,
      name: wanted.name ?? ACCOUNT_NAME[wanted.kind],
      kind: wanted.kind,
      person: customer.id,
      cash: wanted.cash,
      demo
    }
    this.#store({ account })
    return account
  }

  /** Removes all customers that were created on demand. @returns their ids. */
  forgetGuests(): readonly string[] {
    const guests = this.all().filter(customer => !customer.demo)
    for (const { id } of guests) this.#store({ gone: id })
    for (const { id, demo } of this.accounts()) if (!demo) this.#store({ gone: id })
    return guests.map(({ id }) => id)
  }

  close(): void {
    this.#journal?.close()
  }

  #demandCapacity(accounts: number): void {
    if (this.#accounts.size + accounts > ACCOUNTS_MAX)
      throw new Problem('bad_request', `the sandbox has ${this.#accounts.size} accounts, of ${ACCOUNTS_MAX} at most: reset it`)
  }

  /** Gives the demo customers of an older folder the accounts that newer versions added. */
  #complete(): void {
    for (const { username, accounts } of DEMO) {
      const customer = this.#byUsername.get(username)
      if (customer?.demo !== true) continue
      const kinds = new Set(this.accountsOf(customer.id).map(({ kind }) => kind))
      for (const account of accounts) if (!kinds.has(account.kind)) this.addAccount(customer, account, true)
    }
  }

  #make(
    wanted: NewCustomer & { readonly username: string },
    demo: boolean
  ): { readonly customer: Customer; readonly accounts: readonly Account[] } {
    const mark = this.#mark(`person ${wanted.username}`)
    const customer: Customer = {
      id: `log-${mark.slice(0, 16)}`,
      username: wanted.username,
      password: wanted.password ?? `practice-${mark.slice(20, 28)}`,
      name: wanted.name ?? wanted.username,
      demo
    }
    this.#store({ person: customer })
    return { customer, accounts: wanted.accounts.map(account => this.addAccount(customer, account, demo)) }
  }

  #store(entry: Entry): void {
    this.#journal?.append(entry)
    this.#apply(entry)
  }

  #apply(entry: Entry): void {
    if ('person' in entry) {
      this.#byId.set(entry.person.id, entry.person)
      this.#byUsername.set(entry.person.username, entry.person)
    } else if ('account' in entry) {
      const { account } = entry
      this.#accounts.set(account.id, account)
      this.#accountsOf.set(account.person, [...this.accountsOf(account.person), account])
    } else this.#remove(entry.gone)
  }

  #remove(id: string): void {
    const customer = this.#byId.get(id)
    if (customer !== undefined) {
      this.#byId.delete(id)
      this.#byUsername.delete(customer.username)
      for (const account of this.accountsOf(id)) this.#accounts.delete(account.id)
      this.#accountsOf.delete(id)
      return
    }
    const account = this.#accounts.get(id)
    if (account === undefined) return
    this.#accounts.delete(id)
    this.#accountsOf.set(
      account.person,
      this.accountsOf(account.person).filter(other => other.id !== id)
    )
  }

  #freeUsername(): string {
    for (let nth = this.#byId.size + 1; ; nth++) if (!this.#byUsername.has(`guest${nth}`)) return `guest${nth}`
  }

  #accountId(customer: Customer, nth: number): string {
    return `acc-${this.#mark(`account ${customer.username} ${nth}`).slice(0, 16)}`
  }

  #mark(what: string): string {
    return createHmac('sha256', this.#seed).update(what).digest('hex')
  }

  #digest(text: string): Buffer {
    return createHmac('sha256', this.#seed).update(text).digest()
  }
}
