// What is sent, from the words of an operation and parameters by name.
import { TrunklineError } from './errors.ts'
import type { Operation, OperationShape, Params } from './operation.ts'
import { invalid } from './settings.ts'

/** Without what is undefined, which would hide a default. */
export function given(values: object): Record<string, unknown> {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined))
}

/**
 * Path, query and body, from parameters by name; `order` is the one that the answer must be about, if one is named.
 * @throws TrunklineError setting_invalid
 */
export function requestOf<S extends OperationShape>(operation: Operation<S>, params: Params<S>) {
  const [method = '', route = '', member = ''] = operation.split(' ')
  const left = given(params)
  // A change answers a new order.
  const order = method === 'PATCH' ? '' : String(left.order_id ?? '').toLowerCase()
  try {
    const path = route.replace(/{(\w+)}/g, (_, name: string) => {
      const value = String(left[name] ?? '')
      delete left[name]
      // An empty step, or one of dots, would make it the path of something else.
      if (/^\.{0,2}$/.test(value)) throw invalid(`${name} must be given`)
      return encodeURIComponent(value)
    })
    if (method[0] === 'P') return { method, member, path, order, body: JSON.stringify(left) }
    const query = String(new URLSearchParams(Object.entries(left).map(([name, value]) => [name, String(value)])))
    return { method, member, path: query ? `${path}?${query}` : path, order, body: null }
  } catch (cause) {
    // Half of a character in a path, or a number that JSON does not have.
    throw cause instanceof TrunklineError ? cause : invalid('a parameter cannot be sent')
  }
}
