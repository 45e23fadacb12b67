/** Publishers are processes, so a receiver meets few in its life. Those of a further one are dropped: to forget one would allow replays. */
const PUBLISHERS_MAX = 4_096

/** The numbers of the messages that came: each publisher's only rise, so a recorded message that is played back is known by its number. */
export class MessageNumbers {
  readonly #highest = new Map<string, number>()

  /** Whether the number is above all that this publisher's messages had. */
  isNew(publisher: string, number: unknown): boolean {
    if (typeof number !== 'number' || !Number.isSafeInteger(number)) return false
    const highest = this.#highest.get(publisher)
    if (highest === undefined ? this.#highest.size >= PUBLISHERS_MAX : number <= highest) return false
    this.#highest.set(publisher, number)
    return true
  }
}
