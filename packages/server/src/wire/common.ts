// Schemas that the records of the API share.
import { DIGITS_MAX } from '@trunkline/core/domain/decimal'
import { ERROR_CODES } from '@trunkline/core/domain/errors'
import Type, { type Static, type TSchema } from 'typebox'

export const UUID_PATTERN = '^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}$'

export const uuid = Type.String({ format: 'uuid', pattern: UUID_PATTERN, 'x-expected': 'a UUID' })
/** UTC with microseconds. */
export const timestamp = Type.String({ format: 'date-time', examples: ['2026-11-21T14:30:00.123456Z'] })
export const day = Type.String({ format: 'date', examples: ['2026-11-20'] })
/** An exact number as text, in plain notation. */
export const decimal = Type.String({
  format: 'decimal',
  pattern: '^-?(?:0|[1-9][0-9]*)(?:\\.[0-9]+)?$',
  maxLength: DIGITS_MAX + 2,
  examples: ['1.50'],
  'x-expected': `a plain decimal string such as "1.50", at most ${DIGITS_MAX} digits`
})

/** A value of a closed list. */
export function oneOf<const Value extends string>(values: readonly Value[], options: { readonly description?: string } = {}) {
  return Type.Unsafe<Value>({ type: 'string', enum: values, ...options })
}

/** The schema, or null. A list of types instead of a union keeps error messages and serialisers simple. */
export function nullable<T extends TSchema>(schema: T, description?: string) {
  const { type, enum: values, ...rest }: { type?: unknown; enum?: unknown } & TSchema = schema
  return Type.Unsafe<Static<T> | null>({
    ...rest,
    type: [type, 'null'],
    ...(Array.isArray(values) && { enum: [...values, null] }),
    ...(description !== undefined && { description })
  })
}

/** A record in a response. Every field is always present. */
export function record<P extends Record<string, TSchema>>(title: string, description: string, properties: P) {
  return Type.Object(properties, { title, description, additionalProperties: false })
}

/** A request body. Unknown fields are refused, not dropped. */
export function ticket<P extends Record<string, TSchema>>(title: string, properties: P) {
  return Type.Object(properties, { title, additionalProperties: false })
}

/** One page of a list. A request may contain only one of the cursors. */
export function page<T extends TSchema>(title: string, row: T) {
  return record(title, 'One page of a list.', {
    data: Type.Array(row),
    next_cursor: nullable(Type.String(), 'Send it back to read the next page; null on the last page.'),
    prev_cursor: nullable(Type.String(), 'Send it back to read the previous page; null on the first page.')
  })
}

export const problem = Type.Object(
  {
    message: Type.String({ description: 'What was expected, what was found, and what to do.' }),
    code: oneOf(ERROR_CODES, { description: 'Stable, for programs. Later versions may add codes.' }),
    request_id: Type.String(),
    order_id: Type.Optional({
      ...uuid,
      description:
        'With `cl_order_id_duplicate`: the user’s order that already has this `cl_order_id`. Read it with `GET /orders/{order_id}`.'
    }),
    details: Type.Optional(
      Type.Array(Type.Object({ path: Type.String(), message: Type.String() }, { additionalProperties: false }), {
        description: 'The fields or parameters that are wrong.'
      })
    )
  },
  { title: 'Problem', description: 'The body of every error response.', additionalProperties: false }
)
