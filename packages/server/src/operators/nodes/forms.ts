// Forms of what nodes tell each other on behalf of operators, and how they are checked.
import { Malformed } from '@trunkline/core/domain/malformed'
import Type, { type Static, type TSchema } from 'typebox'
import { Compile } from 'typebox/compile'

export const uuid = Type.String({ pattern: '^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$' })
export const text = Type.String({ maxLength: 4_096 })

/** An id of this kind. */
export function uuidOf<Id>() {
  return Type.Unsafe<Id>(uuid)
}

export function nullable<Schema extends TSchema>(schema: Schema) {
  return Type.Union([schema, Type.Null()])
}

/** A function that returns a value of the form, and throws Malformed for any other. */
export function reader<Schema extends TSchema>(schema: Schema, what: string): (value: unknown) => Static<Schema> {
  const compiled = Compile(schema)
  const is = (value: unknown): value is Static<Schema> => compiled.Check(value)
  return value => {
    if (is(value)) return value
    throw new Malformed(what, 'as another node sends it', value)
  }
}
