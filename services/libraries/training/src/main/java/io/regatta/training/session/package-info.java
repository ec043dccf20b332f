/**
 * One rank's membership in a job as its model threads see it, {@link io.regatta.training.session.TrainerSession}, and the
 * one that needs no service, {@link io.regatta.training.session.LocalSession}.
 */
package io.regatta.training.session;
