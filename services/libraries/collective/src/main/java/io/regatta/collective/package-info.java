/** Collectives among the ranks of a group: who is in it, and what they compute together. For any Vert.x application. */
package io.regatta.collective;
