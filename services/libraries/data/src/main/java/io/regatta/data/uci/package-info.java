/**
 * Two small data sets of the UCI repository, held in memory: Census Income and housing. Example programs train on
 * them. Part of the public API.
 */
package io.regatta.data.uci;
