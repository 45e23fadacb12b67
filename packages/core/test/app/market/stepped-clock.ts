import { VirtualClock } from '@trunkline/testkit/virtual-clock'

/** Turns of the event loop that a test runs one by one. */
export class SteppedClock extends VirtualClock {
  #waiting: (() => void)[] = []

  override nextTurn(): Promise<void> {
    return new Promise(resolve => this.#waiting.push(resolve))
  }

  /** One turn: all that wait for the next one continue. */
  async turn(): Promise<void> {
    for (const goOn of this.#waiting.splice(0)) goOn()
    await this.settled()
  }
}
