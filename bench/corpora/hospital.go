package main

import "time"

// hospital keeps beds, stays and appointments: a bed is called by its house, its ward and a number there, three columns; an appointment by its doctor and
// the time; doctors are numbered. Its second design writes a bed as one text in a stay.
var hospital = application{
	name: "hospital",
	model: `
House 40 *code:text name:text town:text/25
Ward 320 *house->House.wards *ward_no:int@house label:text
Bed 2600 *ward->Ward.beds *bed_no:int@ward kind:text/3
Doctor 400 *doctor_id:int name:text field:text/12 ward->Ward.staff
Patient 4000 *patient_id:uuid name:text born:date/300 gp->Doctor.list
Stay 5000 *stay_id:uuid since:timestamp bed->Bed.stays patient->Patient.stays
Appointment 7000 *doctor->Doctor.appointments *at:timestamp reason:text patient->Patient.appointments
Result 6000 *result_id:timeuuid test:text/40 value:int/200 stay->Stay.results orderer->Doctor.ordered
Drug 300 *atc:text label:text
Dose 6000 *stay->Stay.doses *drug->Drug.doses amount:int/50`,
	normal: `
houses(House): code | | name town
wards(Ward): code=house | ward_no | label
beds(Bed): code=ward.house ward_no=ward.ward_no | bed_no | kind
doctors(Doctor): doctor_id | | name field code=ward.house ward_no=ward.ward_no
patients(Patient): patient_id | | name born gp_id=gp
stays(Stay): stay_id | | since code=bed.ward.house ward_no=bed.ward.ward_no bed_no=bed.bed_no patient_id=patient
patient_stays(Stay): patient_id=patient | -since stay_id
appointments(Appointment): doctor_id=doctor | at | reason patient_id=patient
patient_appointments(Appointment): patient_id=patient | -at | doctor_id=doctor
results(Result): stay_id=stay | -result_id | test value ordered_by=orderer
drugs(Drug): atc | | label
doses(Dose): stay_id=stay | atc=drug | amount`,
	copied: `
houses(House): code | | name town
wards(Ward): code=house | ward_no | label house_name=house.name
beds(Bed): place=ward.house unit=ward.ward_no bed=bed_no | | kind
doctors(Doctor): doctor_id | | name field code=ward.house ward_no=ward.ward_no
patients(Patient): patient_id | | name born gp_id=gp
stays(Stay): stay_id | | since location=bed~whole person=patient person_name=patient.name
patient_stays(Stay): person=patient | -since stay=stay_id | location=bed~whole
ward_stays(Stay): place=bed.ward.house unit=bed.ward.ward_no | stay=stay_id | bed=bed.bed_no person=patient person_name=patient.name
appointments(Appointment): doctor_id=doctor | at | reason patient_id=patient who=patient.name
patient_appointments(Appointment): person=patient | -hour=at | physician=doctor physician_name=doctor.name cause=reason
results(Result): stay_id=stay | -result_id | test value ordered_by=orderer
drugs(Drug): atc | | label
doses(Dose): stay_id=stay | atc=drug | amount drug_name=drug.label`,
	grown: func(s *site) []chore {
		const desk, ward, lab = 1, 2, 3
		patient := func(c *client, f *frame) {
			if !c.cached("patient", f, 300*time.Millisecond) {
				c.get("patients", f, "name born")
			}
		}
		doctor := func(c *client, f *frame) {
			if !c.cached("doctor", f, 300*time.Millisecond) {
				c.get("doctors", f, "name field")
			}
		}
		return []chore{
			s.call(16, desk, func(c *client) {
				f := c.get("patients", c.any("Patient"), "*")
				doctor(c, f.to("gp"))
				for _, x := range c.list("patient_appointments", f, "patient", "at doctor doctor.name? limit 8") {
					if !s.table("patient_appointments").has("doctor.name") {
						doctor(c, x.to("doctor"))
					}
				}
			}),
			s.call(12, desk, func(c *client) {
				f := c.get("doctors", c.any("Doctor"), "*")
				c.get("wards", f.to("ward"), "label")
				for _, x := range c.list("appointments", f, "doctor", "at reason patient patient.name?") {
					if !s.table("appointments").has("patient.name") {
						patient(c, x.to("patient"))
					}
				}
			}),
			s.call(14, ward, func(c *client) {
				f := c.get("stays", c.any("Stay"), "*")
				c.get("beds", f.to("bed"), "kind")
				patient(c, f.to("patient"))
				for _, x := range c.list("doses", f, "stay", "drug amount drug.label?") {
					if !s.table("doses").has("drug.label") {
						c.get("drugs", x.to("drug"), "label")
					}
				}
			}),
			s.call(10, ward, func(c *client) {
				f := c.get("patients", c.any("Patient"), "name")
				for _, x := range c.list("patient_stays", f, "patient", "stay_id since") {
					if c.chance(0.7) {
						c.get("stays", x, "*")
					}
				}
			}),
			s.call(10, ward, func(c *client) {
				f := c.get("houses", c.any("House"), "*")
				for _, w := range c.list("wards", f, "house", "ward_no label limit 6") {
					if !s.table("beds").has("ward") && len(s.table("beds").partition) == 2 && c.chance(0.5) {
						c.list("beds", w, "ward", "bed_no kind")
					}
				}
			}),
			s.call(8, lab, func(c *client) {
				f := c.any("Stay")
				for _, x := range c.list("results", f, "stay", "result_id test value orderer limit 10") {
					doctor(c, x.to("orderer"))
				}
			}),
			s.call(5, desk, func(c *client) {
				p := c.get("patients", c.any("Patient"), "name")
				c.make("Appointment", true, "appointments patient_appointments", map[string]*frame{"patient": p})
			}),
			s.call(4, ward, func(c *client) {
				tables := "stays patient_stays"
				if s.has("ward_stays") {
					tables += " ward_stays"
				}
				c.make("Stay", false, tables, map[string]*frame{"patient": c.any("Patient")})
			}),
			s.call(5, lab, func(c *client) { c.make("Result", false, "results", nil) }),
			s.call(4, ward, func(c *client) { c.make("Dose", false, "doses", nil) }),
		}
	},
}
