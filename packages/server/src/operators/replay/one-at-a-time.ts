import { ServiceError } from '@trunkline/core/domain/errors'

/** Replays share one practice account and the sandbox's prices. */
export class OneReplay {
  #isRunning = false

  /** @throws ServiceError rate_limited while another one runs */
  async run<Result>(work: () => Promise<Result>): Promise<Result> {
    if (this.#isRunning)
      throw new ServiceError('rate_limited', 'Another replay runs. Try again in a few seconds.', { retryAfterSeconds: 5 })
    this.#isRunning = true
    try {
      return await work()
    } finally {
      this.#isRunning = false
    }
  }
}
