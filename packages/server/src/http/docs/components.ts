import type { TSchema } from 'typebox'

export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json | undefined }
/** An API description, as it is written out. */
export type Description = { readonly [key: string]: Json | undefined }

/** Collects the schemas that have a title, and replaces each use by a `$ref`. */
export class Components {
  readonly schemas: Record<string, Json> = {}
  readonly #isOpen: boolean

  /** @param isOpen whether records may have more fields than are described: then the document does not rule them out */
  constructor(isOpen = false) {
    this.#isOpen = isOpen
  }

  reference(schema: TSchema): Json {
    return this.#lift(json(schema))
  }

  #lift(value: Json): Json {
    if (Array.isArray(value)) return value.map(item => this.#lift(item))
    if (typeof value !== 'object' || value === null) return value
    const members = Object.entries(value).filter(([key, inner]) => !(this.#isOpen && key === 'additionalProperties' && inner === false))
    const lifted = Object.fromEntries(members.map(([key, inner]) => [key, inner === undefined ? inner : this.#lift(inner)]))
    const { title } = lifted
    if (typeof title !== 'string') return lifted
    this.schemas[title] = lifted
    return { $ref: `#/components/schemas/${title}` }
  }
}

/** A plain JSON copy without `x-expected`, which only our validation messages use. */
export function json(value: unknown): Json {
  return JSON.parse(JSON.stringify(value, (key, inner) => (key === 'x-expected' ? undefined : inner)))
}
