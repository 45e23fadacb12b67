import { setTimeout as pause } from 'node:timers/promises'
import { sharedNow } from '../client/stamps.ts'
import type { Books } from './books.ts'
import type { Talk } from './questions.ts'
import type { Streams } from './streams.ts'

/** So many updates are made before others have their turn. */
const AT_ONCE = 64

/** Makes the house's orders move: at a rate, whatever becomes of it, or as fast as they are seen at the other end. */
export class Talking {
  readonly #books: Books
  readonly #streams: Streams
  #saw = 0
  #stirred: (() => void) | null = null

  constructor(books: Books, streams: Streams) {
    this.#books = books
    this.#streams = streams
  }

  saw(count: number): void {
    this.#saw = count
    this.#stirred?.()
  }

  async run({ total, logins, perSecond, windowMax }: Talk): Promise<{ readonly tookMs: number }> {
    this.#saw = 0
    const started = sharedNow()
    for (let number = 0; number < total; ) {
      const dueAt = perSecond === null ? null : started + (number * 1_000) / perSecond
      const wait = dueAt === null ? 0 : dueAt - sharedNow()
      if (wait > 0.5) await pause(wait)
      else if (windowMax !== null && number - this.#saw >= windowMax) await this.#seen()
      else {
        this.#tell(number, logins, dueAt ?? sharedNow())
        number += 1
        if (number % AT_ONCE === 0) await new Promise(setImmediate)
      }
    }
    return { tookMs: sharedNow() - started }
  }

  #tell(number: number, logins: number, dueAt: number): void {
    const login = number % logins
    this.#streams.tell(login, this.#books.move(login, Math.floor(number / logins), `due ${number} ${Math.round(dueAt * 1_000)}`))
  }

  #seen(): Promise<void> {
    return new Promise(resolve => {
      this.#stirred = resolve
    })
  }
}
