import { TrunklineError } from './errors.ts'
import type { Answer } from './exchange.ts'
import type { Meta } from './meta.ts'

/** What a page of an operation's answer lists. */
export type Item<A> = A extends readonly (infer T)[]
  ? T
  : A extends { readonly data: readonly (infer T)[] }
    ? T
    : A extends { readonly bars: readonly (infer T)[] }
      ? T
      : never

export interface Page<A> {
  readonly data: readonly Item<A>[]
  /** The whole answer, with what it says besides the list. */
  readonly answer: A
  readonly meta: Meta
}

/** A list that is read page by page, as far as it is asked for. */
export interface Pages<A> extends AsyncIterable<Item<A>> {
  pages(): AsyncGenerator<Page<A>>
  /** The first so many: a list can be longer than memory is large. */
  toArray(bound: { readonly limit: number }): Promise<Item<A>[]>
}

type Query = Readonly<Record<string, unknown>>

/** Follows the pages that `next` names; those before with `prev_cursor`. */
export function pagesOf<A>(next: string, query: Query, read: (query: Query) => Promise<Answer<A>>): Pages<A> {
  async function* pages(): AsyncGenerator<Page<A>> {
    const member = query.prev_cursor === undefined ? next : 'prev_cursor'
    const parameter = member === 'link' ? 'cursor' : member.replace(/^next_(?=after|start)/, '')
    let from: unknown
    for (;;) {
      const { data: answer, meta } = await read(from === undefined ? query : { ...query, [parameter]: from })
      const whole = Object(answer)
      yield { data: Array.isArray(answer) ? answer : (whole.data ?? whole.bars), answer, meta }
      const following = member === 'link' ? cursorIn(meta) : whole[member]
      if (following === null || following === undefined) return
      // Otherwise a list that stands still would never end.
      if (following === from) throw new TrunklineError('answer_unreadable', 'The list does not go on.', { requestId: meta.requestId })
      from = following
    }
  }
  async function* items() {
    for await (const { data } of pages()) yield* data
  }
  return {
    pages,
    [Symbol.asyncIterator]: items,
    async toArray({ limit }) {
      const found: Item<A>[] = []
      if (limit > 0) {
        for await (const item of items()) if (found.push(item) >= limit) break
      }
      return found
    }
  }
}

function cursorIn({ headers }: Meta): string | null {
  return new URLSearchParams(/\?([^>]+)>; rel="next"/.exec(headers.get('link') ?? '')?.[1]).get('cursor')
}
