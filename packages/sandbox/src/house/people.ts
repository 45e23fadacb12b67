/** The customers: who may log in, and which accounts are whose. Demo customers come from the seed, more on demand. */

import { createHmac, timingSafeEqual } from 'node:crypto'
import type { AccountType } from '../engine/types.ts'
import { Journal } from './journal.ts'
import { Problem } from './problems.ts'

export const ACCOUNT_KINDS = ['margin', 'cash', 'coin', 'futures'] as const
export type AccountKind = (typeof ACCOUNT_KINDS)[number]

export const ENGINE_TYPE = { margin: 'margin', cash: 'cash', coin: 'crypto', futures: 'futures' } as const satisfies Record<
  AccountKind,
  AccountType
>

export interface Person {
  readonly id: string
  readonly username: string
  /** Kept readable: the sandbox prints it for whoever started it, and it guards practice money only. */
  readonly password: string
  readonly name: string
  /** Whether it is one of those every house begins with. */
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

export interface NewPerson {
  readonly username: string | null
  readonly password: string | null
  readonly name: string | null
  readonly accounts: readonly NewAccount[]
}

type Entry = { readonly person: Person } | { readonly account: Account } | { readonly gone: string }

const ACCOUNT_NAME = { margin: 'Margin', cash: 'Cash', coin: 'Crypto', futures: 'Futures' } as const satisfies Record<AccountKind, string>

const DEMO: readonly (NewPerson & { readonly username: string })[] = [
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

export class People {
  readonly #seed: string
  readonly #byId = new Map<string, Person>()
  readonly #byUsername = new Map<string, Person>()
  readonly #accounts = new Map<string, Account>()
  readonly #accountsOf = new Map<string, readonly Account[]>()
  readonly #journal: Journal<Entry> | null

  /** `file` null: those made on demand do not survive the process. */
  constructor(seed: string, file: string | null) {
    this.#seed = `sandbox people ${seed}`
    this.#journal = file === null ? null : new Journal<Entry>(file, entry => this.#apply(entry))
    if (this.#byId.size === 0) for (const person of DEMO) this.#make(person, true)
    else this.#complete()
  }

  all(): readonly Person[] {
    return [...this.#byId.values()]
  }

  byId(id: string): Person | undefined {
    return this.#byId.get(id)
  }

  byUsername(username: string): Person | undefined {
    return this.#byUsername.get(username)
  }

  /** The person, when the password is right. */
  check(username: string, password: string): Person | undefined {
    const person = this.#byUsername.get(username)
    const right = this.#digest(person?.password ?? '')
    return timingSafeEqual(right, this.#digest(password)) ? person : undefined
  }

  accounts(): readonly Account[] {
    return [...this.#accounts.values()]
  }

  account(id: string): Account | undefined {
    return this.#accounts.get(id)
  }

  accountsOf(person: string): readonly Account[] {
    return this.#accountsOf.get(person) ?? []
  }

  /** @throws Problem `login_taken` */
  add(wanted: NewPerson): { readonly person: Person; readonly accounts: readonly Account[] } {
    const username = wanted.username ?? this.#freeUsername()
    if (this.#byUsername.has(username)) throw new Problem('login_taken', `there is a login ${username} already`, { field: 'username' })
    return this.#make({ ...wanted, username }, false)
  }

  addAccount(person: Person, wanted: NewAccount, demo = false): Account {
    // Accounts made on demand go again, so the count alone would name two of them alike.
    let nth = this.accountsOf(person.id).length
    while (this.#accounts.has(this.#accountId(person, nth))) nth++
    const mark = this.#mark(`account ${person.username} ${nth}`)
    const account: Account = {
      id: this.#accountId(person, nth),
      number: `SB${String(Number.parseInt(mark.slice(16, 24), 16))
        .padStart(10, '0')
        .slice(-8)}`,
      name: wanted.name ?? ACCOUNT_NAME[wanted.kind],
      kind: wanted.kind,
      person: person.id,
      cash: wanted.cash,
      demo
    }
    this.#keep({ account })
    return account
  }

  /** Forgets everybody who was made on demand. @returns their ids. */
  forgetGuests(): readonly string[] {
    const guests = this.all().filter(person => !person.demo)
    for (const { id } of guests) this.#keep({ gone: id })
    for (const { id, demo } of this.accounts()) if (!demo) this.#keep({ gone: id })
    return guests.map(({ id }) => id)
  }

  close(): void {
    this.#journal?.close()
  }

  /** Gives the demo customers of an older folder the accounts that have been invented since. */
  #complete(): void {
    for (const { username, accounts } of DEMO) {
      const person = this.#byUsername.get(username)
      if (person?.demo !== true) continue
      const kinds = new Set(this.accountsOf(person.id).map(({ kind }) => kind))
      for (const account of accounts) if (!kinds.has(account.kind)) this.addAccount(person, account, true)
    }
  }

  #make(
    wanted: NewPerson & { readonly username: string },
    demo: boolean
  ): { readonly person: Person; readonly accounts: readonly Account[] } {
    const mark = this.#mark(`person ${wanted.username}`)
    const person: Person = {
      id: `log-${mark.slice(0, 16)}`,
      username: wanted.username,
      password: wanted.password ?? `practice-${mark.slice(20, 28)}`,
      name: wanted.name ?? wanted.username,
      demo
    }
    this.#keep({ person })
    return { person, accounts: wanted.accounts.map(account => this.addAccount(person, account, demo)) }
  }

  #keep(entry: Entry): void {
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
    const person = this.#byId.get(id)
    if (person !== undefined) {
      this.#byId.delete(id)
      this.#byUsername.delete(person.username)
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

  #accountId(person: Person, nth: number): string {
    return `acc-${this.#mark(`account ${person.username} ${nth}`).slice(0, 16)}`
  }

  #mark(what: string): string {
    return createHmac('sha256', this.#seed).update(what).digest('hex')
  }

  #digest(text: string): Buffer {
    return createHmac('sha256', this.#seed).update(text).digest()
  }
}
