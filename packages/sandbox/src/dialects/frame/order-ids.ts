/** Ids of the house's orders in a broker's own form; the house's control API takes them too. */

export { digitsOf, houseIdOf, uuidOf } from '../../house/order-ids.ts'
