// What the search of the documentation finds.
import { ERROR_CODES } from '@trunkline/core/domain/errors'
import type { Endpoint } from '../endpoint.ts'
import { HTTP_STATUS } from '../problems.ts'
import { STREAMS } from './asyncapi.ts'
import { messagesOf } from './described.ts'
import { MEANINGS } from './errors/meanings.ts'
import { guideEntries } from './guides/index.ts'

/** `about` is shown beside the title; `words` are searched besides, in lower case. */
export interface SearchEntry {
  readonly title: string
  readonly href: string
  readonly about: string
  readonly words: string
}

interface SchemaParts {
  readonly properties?: object
  readonly items?: unknown
  readonly anyOf?: unknown
  readonly enum?: unknown
}

const ABOUT_CHARS_MAX = 120

export function searchIndex(endpoints: readonly Endpoint[]): readonly SearchEntry[] {
  return [
    ...endpoints.map(({ summary, operationId, method, path, params, query, body, success, description = '' }) => ({
      title: summary,
      href: `/docs#${operationId}`,
      about: `${method} ${path.replace(/:(\w+)/g, '{$1}')}`,
      words: [operationId, description, ...Object.keys({ ...params, ...query }), ...namesIn(body), ...namesIn(success.schema)]
        .join(' ')
        .toLowerCase()
    })),
    ...STREAMS.flatMap(stream =>
      messagesOf(stream).map(({ title, name, summary, schema }) => ({
        title: name,
        href: `/docs#${title}`,
        about: `${stream.title}: ${summary}`.slice(0, ABOUT_CHARS_MAX),
        words: [title, ...namesIn(schema)].join(' ').toLowerCase()
      }))
    ),
    ...guideEntries(),
    ...ERROR_CODES.map(code => ({
      title: code,
      href: `/docs/errors/${code}`,
      about: MEANINGS[code].meaning.replaceAll('`', '').slice(0, ABOUT_CHARS_MAX),
      words: `error ${HTTP_STATUS[code]} ${code.replaceAll('_', ' ')} ${MEANINGS[code].remedy}`.toLowerCase()
    }))
  ].map(withSynonyms)
}

/** What people type for what we call otherwise: added to every entry that has the word. */
const SYNONYMS: readonly (readonly [word: RegExp, more: string])[] = [
  [/cancelled|cancel/, 'canceled canceling'],
  [/next_cursor|next_after/, 'pagination paging pages'],
  [/cl_order_id/, 'idempotency idempotent duplicate'],
  [/rate_limited|ratelimit|rate limit/, 'rate-limit rate limit throttling 429'],
  [/client|typescript/, 'sdk library npm'],
  [/stp|stop_price/, 'stop loss stop-loss'],
  [/usextend|extended|order_tif/, 'extended hours after-hours pre-market time in force'],
  [/new york|utc/, 'timezone time zone'],
  [/postgresql|container|image/, 'docker deploy'],
  [/websocket|stream/, 'websocket ws']
]

function withSynonyms(entry: SearchEntry): SearchEntry {
  const text = `${entry.title} ${entry.about} ${entry.words}`.toLowerCase()
  const more = SYNONYMS.flatMap(([word, others]) => (word.test(text) ? [others] : []))
  return more.length === 0 ? entry : { ...entry, words: `${entry.words} ${more.join(' ')}` }
}

/** Names of the fields of a schema and their values, at every depth. */
function namesIn(schema: unknown): readonly string[] {
  if (typeof schema !== 'object' || schema === null) return []
  const { properties = {}, items, anyOf, enum: values }: SchemaParts = schema
  const fields = Object.entries(properties).flatMap(([name, field]) => [name, ...namesIn(field)])
  return [
    ...fields,
    ...(Array.isArray(values) ? values.map(String) : []),
    ...namesIn(items),
    ...(Array.isArray(anyOf) ? anyOf.flatMap(namesIn) : [])
  ]
}
