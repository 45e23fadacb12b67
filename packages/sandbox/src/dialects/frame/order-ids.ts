/** Ids of the house's orders in a broker's own form; the house's control API takes them too. */

export { digitsOf, internalIdOf, uuidOf } from '../../brokerage/order-ids.ts'
