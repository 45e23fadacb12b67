import { SeededChance } from '../chance.ts'

/** The choices of a load and of the faults it meets. */
export class Chance extends SeededChance {
  /** Another one, which follows from this one and takes one choice from it. */
  apart(): Chance {
    return new Chance(this.whole(0, 2 ** 32 - 1))
  }
}
