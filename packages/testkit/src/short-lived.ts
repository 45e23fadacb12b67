/**
 * Options of Node for a program that runs for seconds only: the embedded database's code is compiled fast and not optimized. Opening it
 * costs 40 % less processor time.
 */
export const SHORT_LIVED: readonly string[] = ['--liftoff-only']

/**
 * All that programs under test have of this environment: nothing that is set here by chance changes them. The options of Node make them
 * start from the run's bundles, if it made any.
 */
export const INHERITED = {
  PATH: process.env.PATH,
  NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
  NODE_OPTIONS: process.env.NODE_OPTIONS
}
