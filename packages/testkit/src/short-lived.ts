/**
 * Options of Node for a program that runs for seconds only: the embedded database's code is compiled fast and not optimized. Opening it
 * costs 40 % less processor time.
 */
export const SHORT_LIVED: readonly string[] = ['--liftoff-only']
