/**
 * Compares what an adapter concluded with what a recording expects. Numbers are compared as decimals, times as instants; of a set, one must
 * be right.
 */

import { areEqual, isDecimal } from '@trunkline/core/domain/decimal'
import { parseTimestamp, tradingDay } from '@trunkline/core/domain/timestamp'
import type { Facts } from './facts.ts'

/** Keys of `expected` that say something which no report of the port carries, and why. All others are judged. */
export const NOTES: { readonly [key: string]: string } = {
  note: 'an explanation',
  means: 'an explanation',
  must: 'what has to be asked next, in words',
  positions_should_be_reread: 'the service reads positions before every sale, and after every change of an order',
  closing_only: 'accounts carry no status',
  tick: 'instruments carry no price step',
  point_value: 'instruments carry no multiplier',
  format: 'instruments carry no price format',
  underlying_of_first: 'orders carry no underlying',
  open_interest: 'not published'
}

/** Words of recordings that leave several conclusions open, and those that are right. */
const MEANINGS: { readonly [word: string]: readonly string[] } = {
  partially_filled_or_filled: ['partially_filled', 'filled'],
  pending_or_working: ['pending', 'working'],
  not_rejected: ['pending', 'working', 'partially_filled', 'filled'],
  unchanged_until_reread: ['unchanged'],
  duplicate_client_order_id: ['unknown'],
  outcome_unknown: ['unknown'],
  order_refused: ['refused'],
  account_not_visible: ['refused'],
  transient: ['unreachable', 'rate_limited', 'unknown'],
  capability_missing: ['refused'],
  not_open_any_more: ['refused'],
  already_final: ['refused'],
  order_not_found: ['absent'],
  order_not_found_or_not_ours: ['absent'],
  access_token_expired: ['token_renewed'],
  credential_rejected: ['credentials_rejected'],
  EQUITY: ['STK'],
  FUTURE: ['FUT'],
  OPTION: ['OPT']
}

const CLOCK_MS = 5_000

/** Stands for what the port has no field for in this place: a note, and judged elsewhere. */
export class Unreported {
  readonly why: string

  constructor(why: string) {
    this.why = why
  }
}

/** A list of which the adapter asks for a part only: these, in this order, among those expected. */
export class InPart {
  readonly items: readonly unknown[]
  readonly count: number

  constructor(items: readonly unknown[], count: number) {
    this.items = items
    this.count = count
  }
}

export interface Verdict {
  /** The keys that were judged, once each. */
  readonly judged: readonly string[]
  /** Keys that are notes. */
  readonly noted: readonly string[]
  /** What differs, empty when all is right. */
  readonly differences: readonly string[]
}

export function compare(expected: unknown, facts: Facts): Verdict {
  const [judged, noted] = [new Set<string>(), new Set<string>()]
  const differences: string[] = []
  walk(expected, facts, '')
  return { judged: [...judged], noted: [...noted], differences }

  function walk(wanted: unknown, got: unknown, path: string): void {
    if (Array.isArray(wanted)) {
      list(wanted, got, path)
    } else if (isRecord(wanted)) {
      for (const [key, value] of Object.entries(wanted)) {
        const at = path === '' ? key : `${path}.${key}`
        if (key in NOTES) noted.add(key)
        else if (!isRecord(got) || !(key in got)) differences.push(`${at}: expected ${show(value)}, and nothing here reports it`)
        else if (got[key] instanceof Unreported) noted.add(key)
        else {
          judged.add(key)
          walk(value, got[key], at)
        }
      }
      if (Object.keys(wanted).length > 0 && !isRecord(got)) differences.push(`${path}: expected ${show(wanted)}, got ${show(got)}`)
    } else if (!isSame(wanted, got)) differences.push(`${path}: expected ${show(wanted)}, got ${show(got)}`)
  }

  function list(wanted: readonly unknown[], got: unknown, path: string): void {
    if (got instanceof InPart) {
      inPart(wanted, got, path)
      return
    }
    const items: readonly unknown[] = Array.isArray(got) ? got : [got]
    if (items.length !== wanted.length) {
      differences.push(`${path}: expected ${wanted.length} of them, got ${items.length}: ${show(got)}`)
      return
    }
    for (const [index, value] of wanted.entries()) {
      // Nothing is concluded from such a step. A broker's own time in force is read as the nearest plain one: the port has no null.
      if (value === null && /(?:after_each|order_tif)$/.test(path)) continue
      walk(value, paired(value, items, index), `${path}[${index}]`)
    }
  }

  function inPart(wanted: readonly unknown[], { items, count }: InPart, path: string): void {
    const found = items.filter(item => wanted.some(value => compare({ item: value }, { item }).differences.length === 0))
    if (found.length !== count || items.length !== count)
      differences.push(`${path}: expected ${count} of ${show(wanted)}, got ${show(items)}`)
  }
}

/** Orders are found by their id, whatever order they come in. */
function paired(wanted: unknown, items: readonly unknown[], index: number): unknown {
  const id = isRecord(wanted) ? wanted.broker_order_id : undefined
  return id === undefined ? items[index] : items.find(item => isRecord(item) && isSame(id, item.broker_order_id))
}

function isSame(wanted: unknown, got: unknown): boolean {
  if (Array.isArray(got))
    return typeof wanted === 'number' ? got.length === wanted : got.length > 0 && got.every(each => isSame(wanted, each))
  if (isRecord(got)) return 'symbol' in got && typeof wanted === 'string' && isSame(wanted, got.symbol)
  if (got instanceof Set) return [...got].some(each => isSame(wanted, each))
  if (wanted === got) return true
  if (wanted === null || got === null || got === undefined) return false
  const [one, other] = [String(wanted), String(got)]
  if (MEANINGS[one]?.includes(other) === true) return true
  return isSameNumber(one, other) || isSameTime(one, other) || (one === other && typeof wanted !== 'boolean')
}

/** `10,315.00 USD` is a number that is written for people. */
function isSameNumber(one: string, other: string): boolean {
  const plain = /^-?[\d,]+(?:\.\d+)?(?: [A-Z]{3})?$/.test(one) ? one.replaceAll(/,| [A-Z]{3}$/g, '') : one
  return isDecimal(plain) && isDecimal(other) && areEqual(plain, other)
}

/** A day stands for the trading day of a time. */
function isSameTime(one: string, other: string): boolean {
  if (!/^\d{4}-\d\d-\d\dT/.test(one)) return false
  if (/^\d{13}(?:\.\d+)?$/.test(other)) return isSince(Number(other) - Math.floor(Date.parse(one)))
  try {
    const wanted = parseTimestamp(one, 'expected')
    return other.includes('T') ? wanted === parseTimestamp(other, 'got') : tradingDay(wanted) === other
  } catch {
    return false
  }
}

/** A clock has gone on since it was read. */
function isSince(ms: number): boolean {
  return ms >= 0 && ms < CLOCK_MS
}

function isRecord(value: unknown): value is Facts {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Set)
}

function show(value: unknown): string {
  const text = value instanceof Set ? JSON.stringify([...value]) : (JSON.stringify(value) ?? 'nothing')
  return text.length > 300 ? `${text.slice(0, 300)}…` : text
}
