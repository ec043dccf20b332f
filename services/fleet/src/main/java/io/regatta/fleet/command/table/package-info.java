/** Commands for tables of named columns: a job file is proposed, training rows are analyzed, a model is explained. */
package io.regatta.fleet.command.table;
