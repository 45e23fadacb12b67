import { SeededChance } from '../chance.ts'

/** Random choices of a load and of faults. */
export class Chance extends SeededChance {
  /** A new generator derived from this one, which uses one choice of it. */
  apart(): Chance {
    return new Chance(this.whole(0, 2 ** 32 - 1))
  }
}
