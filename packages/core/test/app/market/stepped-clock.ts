import { VirtualClock } from '@trunkline/testkit/virtual-clock'

/** Turns of the event loop come one by one, on demand. */
export class SteppedClock extends VirtualClock {
  #waiting: (() => void)[] = []

  override nextTurn(): Promise<void> {
    return new Promise(resolve => this.#waiting.push(resolve))
  }

  /** One turn: everybody who waits for the next one goes on. */
  async turn(): Promise<void> {
    for (const goOn of this.#waiting.splice(0)) goOn()
    await this.settled()
  }
}
