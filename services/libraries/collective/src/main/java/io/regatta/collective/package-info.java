/**
 * Collectives among the ranks of a group: their membership, and the computations that they make together. For any
 * Vert.x application. Part of the public API.
 */
package io.regatta.collective;
