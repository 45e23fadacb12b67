import { TrunklineError } from './errors.ts'
import type { Answer } from './exchange.ts'
import type { Meta } from './meta.ts'
import { invalid } from './settings.ts'

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
  const member = query.prev_cursor ? 'prev_cursor' : next
  const parameter = { next_after: 'after', next_start: 'start', link: 'cursor' }[member] ?? member
  async function* pages(): AsyncGenerator<Page<A>> {
    let from: unknown
    let mark: unknown
    for (let count = 1; ; count += 1) {
      const { data: answer, meta } = await read(from ? { ...query, [parameter]: from } : query)
      const whole = Object(answer)
      yield { data: whole.data ?? whole.bars ?? answer, answer, meta }
      const [link] = /(?<=[?&])cursor=[^&>]+/.exec(meta.headers.get('link') ?? '') ?? []
      const following = member === 'link' ? new URLSearchParams(link).get('cursor') : whole[member]
      if (!following) return
      // Otherwise a list that leads back to a page before would never end. Any circle meets a mark that is moved ever more rarely.
      if (following === mark)
        throw new TrunklineError('answer_unreadable', 'The list leads back to a page before: something in between repeats old answers.')
      from = following
      if (!(count & (count - 1))) mark = from
    }
  }
  async function* items() {
    for await (const { data } of pages()) yield* data
  }
  return {
    pages,
    [Symbol.asyncIterator]: items,
    async toArray(bound = Object()) {
      const { limit } = bound
      if (!(limit >= 0)) throw invalid(`toArray needs how many at most, such as { limit: 1000 }, and was given ${limit}`)
      const found: Item<A>[] = []
      if (limit > 0) {
        for await (const item of items()) if (found.push(item) >= limit) break
      }
      return found
    }
  }
}
