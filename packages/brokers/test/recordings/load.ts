/**
 * Recordings: what brokers really answered, and what an honest reader must conclude. They come from the folder that
 * `TRUNKLINE_RECORDINGS` names, or `../shared/brokers/recordings` beside the project; without such a folder from the fixtures here.
 */

import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'

const PROJECT = resolve(import.meta.dirname, '..', '..', '..', '..')
const BESIDE = resolve(PROJECT, '..', 'shared', 'brokers', 'recordings')
const FIXTURES = resolve(import.meta.dirname, 'fixtures')

export type Json = ReturnType<typeof JSON.parse>

/** One answer or one stream message. */
export interface Step {
  readonly method: string | null
  /** With its query. */
  readonly path: string | null
  /** Null where the source did not keep it. */
  readonly status: number | null
  /** Its numbers are {@link numberIn} texts. Undefined where the answer is not JSON. */
  readonly payload: Json
  /** As it came over the wire. */
  readonly body: string
}

export interface Recording {
  readonly broker: string
  readonly name: string
  readonly subject: string
  /** Stands where a step has none. */
  readonly recordedAt: string
  readonly steps: readonly Step[]
  /** Whether `expected` has an entry for each step. */
  readonly isSequence: boolean
  readonly expected: Json
}

/** The folder that is read. @throws Error when the named one does not exist */
export function recordingsFolder(): string {
  const named = process.env.TRUNKLINE_RECORDINGS
  if (named !== undefined && named !== '') {
    if (existsSync(named)) return named
    throw new Error(`TRUNKLINE_RECORDINGS names ${named}, which does not exist`)
  }
  return existsSync(BESIDE) ? BESIDE : FIXTURES
}

/** The recordings of a broker, by name. */
export function recordingsOf(broker: string): readonly Recording[] {
  const folder = join(recordingsFolder(), broker)
  if (!existsSync(folder)) return []
  const names = readdirSync(folder).filter(file => file.endsWith('.json'))
  return names.toSorted().map(file => recording(file.replace(/\.json$/, ''), readFileSync(join(folder, file), 'utf8')))
}

function recording(name: string, text: string): Recording {
  const exact = exactly(text)
  const { broker, subject, expected, recorded_at_or_unknown: recordedAt }: Json = JSON.parse(text)
  const steps: readonly Json[] = exact.payloads ?? [exact]
  return {
    ...{ broker, name, subject, recordedAt, expected },
    steps: steps.map(step => stepOf(step, exact)),
    isSequence: exact.payloads !== undefined
  }
}

/** A step of `exchanges` is an exchange; one of `frames` is the message itself. */
function stepOf(step: Json, whole: Json): Step {
  const isExchange = whole.payloads === undefined || whole.payloads_are === 'exchanges'
  const { request = null, status = null, payload, payload_text: text } = isExchange ? step : { payload: step }
  const { method = null, path = null } = request ?? whole.request ?? {}
  return {
    ...{ method, path, payload },
    status: plain(status ?? whole.status ?? null),
    body: text ?? written(payload)
  }
}

const MARK = '\u0000'

/** JSON whose numbers stay as they were written: `42.0`, and ids beyond 2^53. */
function exactly(text: string): Json {
  const kept = (_key: string, value: unknown, context?: { readonly source?: string }) =>
    typeof value === 'number' ? `${MARK}${context?.source ?? value}` : value
  return JSON.parse(text, kept)
}

/** The text of a number, and any other text unchanged. */
export function numberIn(value: unknown): string {
  return String(value).replace(MARK, '')
}

function plain(value: Json): Json {
  return typeof value === 'string' && value.startsWith(MARK) ? Number(numberIn(value)) : value
}

/** JSON as it would come over the wire, with numbers as they were recorded. */
export function written(payload: Json): string {
  return JSON.stringify(payload)?.replaceAll(/"\\u0000([^"]*)"/g, '$1') ?? ''
}

const SOME_TIME = '2026-01-05T15:00:00Z'

/** When it was recorded, as far as that is known. */
export function recordedTime({ recordedAt }: Recording): string {
  const ms = Date.parse(recordedAt)
  return Number.isNaN(ms) ? SOME_TIME : new Date(ms).toISOString()
}

/** An answer whose status the source did not keep may have come with any of these: the recording, once for each. */
export function variants(recording: Recording, statuses: readonly number[]): readonly Recording[] {
  const isOpen = recording.steps.some(
    ({ method, path, status, payload }) => status === null && method !== 'WS' && (path !== null || payload?.fault !== undefined)
  )
  if (!isOpen) return [recording]
  return statuses.map(status => ({ ...recording, steps: recording.steps.map(step => ({ ...step, status: step.status ?? status })) }))
}
