/** Two small data sets of the UCI repository, held in memory: Census Income and housing. */
package io.regatta.data.uci;
