import { isIP } from 'node:net'
import { shown } from '@trunkline/core/domain/malformed'

/** One row of the settings table. `parse` throws an Error whose message says what was expected; it never repeats a secret. */
export interface Setting<T> {
  readonly env: string
  readonly parse: (text: string) => T
  /** The default, as it would be written in the environment; empty: no value. */
  readonly fallback: string
  readonly about: string
  /** Its heading on the settings page. */
  readonly group: string
  /** Never printed, never logged. */
  readonly secret?: true
}

/** A fault of one setting: which, and what was expected. */
export interface SettingFault {
  readonly env: string
  readonly message: string
}

/** All faults of the settings. */
export class SettingsInvalid extends Error {
  override readonly name = 'SettingsInvalid'
  readonly faults: readonly SettingFault[]

  constructor(faults: readonly SettingFault[]) {
    super(`invalid settings:\n${faults.map(({ env, message }) => `  ${env} ${message}`).join('\n')}`)
    this.faults = faults
  }
}

export type Table = Readonly<Record<string, Setting<unknown>>>
export type Read<T extends Table> = { readonly [Name in keyof T]: ReturnType<T[Name]['parse']> }

/** The settings that could be read, and the faults of the rest. */
export interface Inspected<T extends Table> {
  readonly values: Partial<Read<T>>
  readonly faults: readonly SettingFault[]
}

/** Reads the table from the environment, as far as possible. */
export function inspectSettings<T extends Table>(table: T, env: Readonly<Record<string, string | undefined>>): Inspected<T> {
  const faults: SettingFault[] = []
  const values: Record<string, unknown> = {}
  for (const [name, setting] of Object.entries(table)) {
    const given = env[setting.env]?.trim() ?? ''
    const text = given === '' ? setting.fallback : given
    try {
      values[name] = setting.parse(text)
    } catch (cause) {
      const found = setting.secret ? '' : `, was ${shown(text)}`
      faults.push({ env: setting.env, message: `must be ${cause instanceof Error ? cause.message : 'valid'}${found}` })
    }
  }
  // Its own parser read every present key.
  return { values: values as Partial<Read<T>>, faults }
}

export const text = (value: string): string => value

export const optionalText = (value: string): string | null => (value === '' ? null : value)

/** Long enough not to be guessed, and fit for a header. */
export const optionalToken = (value: string): string | null => {
  if (value === '' || /^[\x21-\x7e]{16,256}$/.test(value)) return optionalText(value)
  throw new Error('16 to 256 printable ASCII characters without a space')
}

export const list = (value: string): readonly string[] =>
  value
    .split(',')
    .map(item => item.trim())
    .filter(item => item !== '')

/** Addresses, networks (`10.0.0.0/8`), and the names of the usual ones. */
export const networks = (value: string): readonly string[] => {
  const items = list(value)
  if (items.every(isNetwork)) return items
  throw new Error('addresses or networks such as 10.0.0.0/8, or the names loopback, linklocal and uniquelocal, separated by commas')
}

/** Addresses and networks, without the names of the usual ones: what these comprise would be for the reader to guess. */
export const numericNetworks = (value: string): readonly string[] => {
  const items = list(value)
  if (items.every(item => /^[\d.:a-f]/i.test(item) && !item.includes('%') && isNetwork(item))) return items
  throw new Error('addresses or networks such as 10.1.0.0/16, separated by commas')
}

/** Upper-case names, each once. */
export const brokerNames = (value: string): readonly string[] => {
  const items = list(value)
  if (items.every(item => /^[A-Z][A-Z0-9_]{1,31}$/.test(item)) && new Set(items).size === items.length) return items
  throw new Error('names of brokers such as SANDBOX, each once, separated by commas')
}

function isNetwork(item: string): boolean {
  if (item === 'loopback' || item === 'linklocal' || item === 'uniquelocal') return true
  const [address = '', bits, ...more] = item.split('/')
  const version = isIP(address)
  const bitsMax = version === 4 ? 32 : 128
  return version !== 0 && more.length === 0 && (bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= bitsMax))
}

export function integer(min: number, max: number): (value: string) => number {
  return value => {
    const parsed = /^\d{1,12}$/.test(value) ? Number(value) : Number.NaN
    if (!(parsed >= min && parsed <= max)) throw new Error(`a whole number from ${min} to ${max}`)
    return parsed
  }
}

export function optionalInteger(min: number, max: number): (value: string) => number | null {
  return value => (value === '' ? null : integer(min, max)(value))
}

export function oneOf<const T extends string>(...values: readonly T[]): (value: string) => T {
  return value => {
    const found = values.find(known => known === value)
    if (found === undefined) throw new Error(`one of ${values.join(', ')}`)
    return found
  }
}

export function flag(value: string): boolean {
  return oneOf('1', '0')(value) === '1'
}

export function optionalOrigin(value: string): string | null {
  if (value === '') return null
  const url = URL.parse(value)
  if (url === null || (url.protocol !== 'https:' && url.protocol !== 'http:') || (url.pathname !== '/' && url.pathname !== '')) {
    throw new Error('an origin such as https://api.example.com, without a path')
  }
  return url.origin
}

/** Origins of web pages, or `*` for all. */
export const origins = (value: string): readonly string[] => {
  const items = list(value)
  if (items.every(item => item === '*' || URL.parse(item)?.origin === item)) return items
  throw new Error('origins such as https://app.example.com, separated by commas, or *')
}

export function optionalDatabaseUrl(value: string): string | null {
  if (value === '') return null
  const url = URL.parse(value)
  if (url === null || (url.protocol !== 'postgres:' && url.protocol !== 'postgresql:')) {
    throw new Error('a PostgreSQL address such as postgres://user:password@host:5432/database')
  }
  return value
}
