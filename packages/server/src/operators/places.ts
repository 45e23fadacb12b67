import { ServiceError } from '@trunkline/core/domain/errors'

/** Operators are few: a program of theirs that runs away must not take the database from orders. */
const PLACES = 16

/** The work that requests of operators do at once. */
export class Places {
  readonly #places: number
  #taken = 0

  constructor(places = PLACES) {
    this.#places = places
  }

  /** @throws ServiceError rate_limited if all are taken */
  async run<Result>(work: () => Promise<Result>): Promise<Result> {
    if (this.#taken >= this.#places)
      throw new ServiceError(
        'rate_limited',
        `Operators have ${this.#places} such requests under way, the most at a time. Try again in a second.`,
        {
          retryAfterSeconds: 1
        }
      )
    this.#taken += 1
    try {
      return await work()
    } finally {
      this.#taken -= 1
    }
  }
}
