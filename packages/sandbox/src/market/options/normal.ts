/** The standard normal distribution. */

const ROOT_TWO_PI = 2.5066282746310002

export function density(x: number): number {
  return Math.exp(-0.5 * x * x) / ROOT_TWO_PI
}

/**
 * The share of the distribution below `x`, accurate to fifteen decimal places: a ratio of polynomials (J. F. Hart and others, Computer
 * Approximations, 1968, no. 5666) up to seven deviations, a continued fraction beyond.
 */
export function cumulative(x: number): number {
  const far = Math.abs(x)
  const tail = far > 37 ? 0 : Math.exp(-0.5 * far * far) * (far < 7.071_067_811_865_47 ? ratio(far) : fraction(far))
  return x > 0 ? 1 - tail : tail
}

function ratio(x: number): number {
  const above =
    (((((3.526_249_659_989_11e-2 * x + 0.700_383_064_443_688) * x + 6.373_962_203_531_65) * x + 33.912_866_078_383) * x +
      112.079_291_497_871) *
      x +
      221.213_596_169_931) *
      x +
    220.206_867_912_376
  const below =
    ((((((8.838_834_764_831_84e-2 * x + 1.755_667_163_182_64) * x + 16.064_177_579_207) * x + 86.780_732_202_946_1) * x +
      296.564_248_779_674) *
      x +
      637.333_633_378_831) *
      x +
      793.826_512_519_948) *
      x +
    440.413_735_824_752
  return above / below
}

function fraction(x: number): number {
  return 1 / ((x + 1 / (x + 2 / (x + 3 / (x + 4 / (x + 0.65))))) * ROOT_TWO_PI)
}
