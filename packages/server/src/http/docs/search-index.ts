// What the search of the documentation finds.
import { ERROR_CODES } from '@trunkline/core/domain/errors'
import type { Endpoint } from '../endpoint.ts'
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
    ...ERROR_CODES.map(code => ({
      title: code,
      href: `/docs/errors/${code}`,
      about: MEANINGS[code].meaning.replaceAll('`', '').slice(0, ABOUT_CHARS_MAX),
      words: `error ${MEANINGS[code].remedy}`.toLowerCase()
    })),
    ...guideEntries()
  ]
}

/** Names of the fields of a schema, at every depth. */
function namesIn(schema: unknown): readonly string[] {
  if (typeof schema !== 'object' || schema === null) return []
  const { properties = {}, items, anyOf }: { readonly properties?: object; readonly items?: unknown; readonly anyOf?: unknown } = schema
  const fields = Object.entries(properties).flatMap(([name, field]) => [name, ...namesIn(field)])
  return [...fields, ...namesIn(items), ...(Array.isArray(anyOf) ? anyOf.flatMap(namesIn) : [])]
}
