// What is sent, from the words of an operation and parameters by name.
import { TrunklineError } from './errors.ts'
import type { Operation, OperationShape, Params } from './operation.ts'
import { invalid } from './settings.ts'

/** Without what is undefined, which would hide a default. */
export function given(values: object): Record<string, unknown> {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined))
}

/** Named by position, because names would be in every bundle. `order` is the one that the answer must be about, or empty. */
export type Composed = readonly [method: string, path: string, body: string | null, member: string, order: string]

/**
 * Method, path with query, and body, from parameters by name.
 * @throws TrunklineError setting_invalid
 */
export function requestOf<S extends OperationShape>(operation: Operation<S>, params: Params<S>): Composed {
  const [, sign = '', route = '', answered] = /^([-+~]?)(\S+) ?(\S*)/.exec(operation) ?? []
  let member = answered ?? ''
  const left = given(params)
  // A change answers a new order.
  const order = sign === '~' ? '' : String(left.order_id ?? '').toLowerCase()
  try {
    const path = route.replace(/{(\w+)}/g, (_, word: string) => {
      const name = `${word}_id`
      member = answered || name
      const value = String(left[name] ?? '')
      delete left[name]
      // An empty step, or one of dots, would make it the path of something else.
      if (/^\.{0,2}$/.test(value)) throw invalid(`${name} must be given, and was "${value}"`)
      return encodeURIComponent(value)
    })
    if (/[+~]/.test(sign)) return [sign === '+' ? 'POST' : 'PATCH', path, JSON.stringify(left), member, order]
    const query = String(new URLSearchParams(Object(left)))
    return [sign ? 'DELETE' : 'GET', path + (query && `?${query}`), null, member, order]
  } catch (cause) {
    // Half of a character in a path, or a number that JSON does not have.
    throw cause instanceof TrunklineError ? cause : invalid(`a parameter cannot be sent: ${cause}`)
  }
}
