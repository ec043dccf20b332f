/**
 * The configuration of a job and of a trainer: the records of a job file and of the section {@code trainer}. All
 * packages of the module read it, and none of them changes it. Part of the public API.
 */
package io.regatta.training.config;
