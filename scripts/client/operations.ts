// How the client has an operation: as a short text, because a program carries those of all resources that it uses.

export interface Operation {
  /** In upper case. */
  readonly method: string
  readonly path: string
  /** By which the answer is recognised. */
  readonly member: string
  /** What names the next page; null: there are no pages. */
  readonly paging: string | null
}

const SIGNS: Readonly<Record<string, string>> = { GET: '', POST: '+', DELETE: '-', PATCH: '~' }

/**
 * Without what the client adds: the end `_id` of parameters, a member that is the last parameter, and `next_cursor` after `data[]`.
 * @throws Error if it would add something else
 */
export function operationText({ method, path, member, paging }: Operation): string {
  const sign = SIGNS[method]
  const names = [...path.matchAll(/{(\w+)}/g)].map(([, name = '']) => name)
  if (sign === undefined || names.some(name => !name.endsWith('_id'))) throw new Error(`the client cannot say ${method} ${path}`)
  if ((member === 'data[]') !== (paging === 'next_cursor' || paging === 'next_after'))
    throw new Error(`${path} has ${member} without pages`)
  const words = [member === names.at(-1) ? '' : member, paging === 'next_cursor' ? '' : (paging ?? '')]
  return [`${sign}${path.replaceAll('_id}', '}')}`, ...words].join(' ').trimEnd()
}
