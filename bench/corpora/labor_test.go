//nolint:misspell // German
package main

import "time"

// labor is a hospital's laboratory with German names: orders of a case by their numbers, samples by their barcodes, results by sample and analysis, germs and what they resist, devices and what they are
// calibrated with, bills by the health insurer, shifts and who stands in.
var labor = application{
	name: "labor",
	model: `
Kasse 60 *ik_nr:int bezeichnung:text
Station 40 *station_kz:text bezeichnung:text haus:text/6
Patient 2500 *pat_nr:bigint name:text vorname:text/300 geboren:date/3000 kasse->Kasse.versicherte
Einsender 200 *lanr:text name:text fachgebiet:text/20 station->Station.aerzte
Fall 3500 *fall_nr:bigint aufnahme:date/200 diagnose:text/400 patient->Patient.faelle station->Station.faelle
Auftrag 6000 *auftrag_nr:text eingang:timestamp tag:date<eingang/150 dringlich:int/3 fall->Fall.auftraege einsender->Einsender.auftraege
Material 20 *material_kz:text bezeichnung:text
Probe 7000 *barcode:text entnommen:timestamp auftrag->Auftrag.proben material->Material.proben
Methode 25 *methode_kz:text bezeichnung:text
Analyse 250 *analyse_kz:text bezeichnung:text einheit:text/30 methode->Methode.analysen
Referenz 700 *analyse->Analyse.referenzen *lfd_nr:int@analyse unten:double oben:double geschlecht:text/3
Profil 40 *profil_kz:text bezeichnung:text
ProfilAnalyse 400 *profil->Profil.analysen *analyse->Analyse.profile
Anforderung 9000 *auftrag->Auftrag.anforderungen *analyse->Analyse.anforderungen status:text/5
Hersteller 15 *hersteller_id:uuid firma:text
Geraet 30 *geraet_id:uuid bezeichnung:text raum:text/12 hersteller->Hersteller.geraete
Mitarbeiter 80 *personal_nr:int name:text kuerzel:text vorgesetzter->Mitarbeiter.unterstellte?0.1
Befund 11000 *probe->Probe.befunde *analyse->Analyse.befunde wert:double auffaellig:boolean/2 gemessen:timestamp geraet->Geraet.befunde freigeber->Mitarbeiter.freigaben?0.2
Kalibrierung 1500 *geraet->Geraet.kalibrierungen *zeitpunkt:timestamp in_ordnung:boolean/2 durch->Mitarbeiter.kalibrierungen
Reagenz 90 *reagenz_id:uuid bezeichnung:text hersteller->Hersteller.reagenzien
Charge 500 *charge_nr:text verfall:date/300 reagenz->Reagenz.chargen
Kontrolle 5000 *kontroll_id:timeuuid monat:int<kontroll_id/500 istwert:double geraet->Geraet.kontrollen analyse->Analyse.kontrollen charge->Charge.kontrollen
Schicht 2400 *mitarbeiter->Mitarbeiter.schichten *datum:date@mitarbeiter art:text/3 vertretung->Mitarbeiter.vertretungen?0.8
Keim 150 *keim_kz:text bezeichnung:text
Antibiotikum 60 *atc:text wirkstoff:text
Isolat 1500 *isolat_id:uuid keimzahl:text/6 probe->Probe.isolate keim->Keim.isolate
Resistenz 5000 *isolat->Isolat.resistenzen *antibiotikum->Antibiotikum.resistenzen stufe:text/3
Rechnung 2500 *rechnung_nr:bigint betrag:int/900 fall->Fall.rechnungen kasse->Kasse.rechnungen
Position 8000 *rechnung->Rechnung.positionen *pos_nr:int@rechnung betrag:int/90 analyse->Analyse.positionen
Rueckruf 900 *rueckruf_id:uuid zeit:timestamp befund->Befund.rueckrufe anrufer->Mitarbeiter.rueckrufe einsender->Einsender.rueckrufe
Kommentar 2500 *kommentar_id:timeuuid text:text auftrag->Auftrag.kommentare verfasser->Mitarbeiter.kommentare
Sitzung 1200 *sitzung_id:text ablauf:timestamp mitarbeiter->Mitarbeiter.sitzungen`,
	normal: `
krankenkassen(Kasse): ik_nr | | bezeichnung
stationen(Station): station_kz | | bezeichnung haus
patienten(Patient): pat_nr | | name vorname geboren ik_nr=kasse
patienten_nach_name(Patient): name | geboren pat_nr | vorname
einsender(Einsender): lanr | | name fachgebiet station_kz=station
faelle(Fall): fall_nr | | aufnahme diagnose pat_nr=patient station_kz=station
faelle_je_patient(Fall): pat_nr=patient | -fall_nr | aufnahme diagnose
auftraege(Auftrag): auftrag_nr | | eingang dringlich fall_nr=fall lanr=einsender pat_nr=fall.patient
auftraege_je_fall(Auftrag): fall_nr=fall | auftrag_nr | eingang dringlich
auftraege_je_tag(Auftrag): tag | -dringlich auftrag_nr | eingang fall_nr=fall lanr=einsender einsender_name=einsender.name
proben(Probe): barcode | | entnommen auftrag_nr=auftrag material_kz=material
proben_je_auftrag(Probe): auftrag_nr=auftrag | barcode | entnommen material_kz=material
materialien(Material): material_kz | | bezeichnung
methoden(Methode): methode_kz | | bezeichnung
analysen(Analyse): analyse_kz | | bezeichnung einheit methode_kz=methode
referenzbereiche(Referenz): analyse_kz=analyse | lfd_nr | unten oben geschlecht !einheit=analyse.einheit
profile(Profil): profil_kz | | bezeichnung
profil_analysen(ProfilAnalyse): profil_kz=profil | analyse_kz=analyse
anforderungen(Anforderung): auftrag_nr=auftrag | analyse_kz=analyse | status
befunde(Befund): barcode=probe | analyse_kz=analyse | wert auffaellig gemessen geraet_id=geraet freigegeben_von=freigeber !auftrag_nr=probe.auftrag
befunde_je_geraet(Befund): geraet_id=geraet | -gemessen barcode=probe analyse_kz=analyse | wert
hersteller(Hersteller): hersteller_id | | firma
geraete(Geraet): geraet_id | | bezeichnung raum hersteller_id=hersteller
kalibrierungen(Kalibrierung): geraet_id=geraet | -zeitpunkt | in_ordnung personal_nr=durch
reagenzien(Reagenz): reagenz_id | | bezeichnung hersteller_id=hersteller
chargen(Charge): charge_nr | | verfall reagenz_id=reagenz
qualitaetskontrollen(Kontrolle): geraet_id=geraet monat | -kontroll_id | istwert analyse_kz=analyse charge_nr=charge
mitarbeiter(Mitarbeiter): personal_nr | | name kuerzel vorgesetzter_nr=vorgesetzter
dienstplan(Schicht): personal_nr=mitarbeiter | datum | art vertretung_nr=vertretung
keime(Keim): keim_kz | | bezeichnung
antibiotika(Antibiotikum): atc | | wirkstoff
isolate(Isolat): isolat_id | | keimzahl barcode=probe keim_kz=keim
isolate_je_probe(Isolat): barcode=probe | isolat_id | keim_kz=keim keimzahl
antibiogramm(Resistenz): isolat_id=isolat | atc=antibiotikum | stufe
rechnungen(Rechnung): rechnung_nr | | betrag fall_nr=fall ik_nr=kasse
rechnungen_je_kasse(Rechnung): ik_nr=kasse | -rechnung_nr | betrag fall_nr=fall
rechnungspositionen(Position): rechnung_nr=rechnung | pos_nr | betrag analyse_kz=analyse
rueckrufe(Rueckruf): rueckruf_id | | zeit barcode=befund.probe analyse_kz=befund.analyse personal_nr=anrufer lanr=einsender
kommentare(Kommentar): auftrag_nr=auftrag | -kommentar_id | text verfasser=verfasser
sitzungen(Sitzung): sitzung_id | | ablauf personal_nr=mitarbeiter`,
	grown: func(s *site) []chore {
		const lis, kis, job = 1, 2, 3
		analyse := func(c *client, f *frame) {
			if !c.cached("analyse", f, 60*time.Millisecond) {
				c.get("analysen", f, "bezeichnung einheit")
			}
		}
		return []chore{
			s.call(14, kis, func(c *client) {
				f := c.get("auftraege", c.any("Auftrag"), "*")
				c.get("patienten", f.to("fall").to("patient"), "name vorname geboren")
				c.get("einsender", f.to("einsender"), "name fachgebiet")
				for _, x := range c.list("proben_je_auftrag", f, "auftrag", "barcode entnommen material") {
					c.get("materialien", x.to("material"), "bezeichnung")
					for _, y := range c.list("befunde", x, "probe", "analyse wert auffaellig geraet freigeber") {
						analyse(c, y.to("analyse"))
						if m := y.to("freigeber"); m != nil && c.chance(0.3) {
							c.get("mitarbeiter", m, "kuerzel")
						}
					}
				}
				for _, x := range c.list("kommentare", f, "auftrag", "kommentar_id text verfasser") {
					c.get("mitarbeiter", x.to("verfasser"), "name")
				}
			}),
			s.call(10, kis, func(c *client) {
				f := c.get("patienten", c.any("Patient"), "*")
				c.get("krankenkassen", f.to("kasse"), "bezeichnung")
				for _, x := range c.list("faelle_je_patient", f, "patient", "fall_nr aufnahme diagnose") {
					y := c.get("faelle", x, "*")
					c.get("stationen", y.to("station"), "bezeichnung")
					c.list("auftraege_je_fall", y, "fall", "auftrag_nr eingang dringlich limit 8")
				}
			}),
			s.call(8, lis, func(c *client) {
				for _, x := range c.page("auftraege_je_tag", c.any("Auftrag"), "auftrag_nr dringlich eingang einsender einsender.name limit 8") {
					for _, y := range c.list("anforderungen", x, "auftrag", "analyse status") {
						analyse(c, y.to("analyse"))
					}
				}
			}),
			s.call(8, lis, func(c *client) {
				f := c.get("proben", c.any("Probe"), "*")
				c.get("auftraege", f.to("auftrag"), "eingang dringlich fall")
				for _, x := range c.list("isolate_je_probe", f, "probe", "isolat_id keim keimzahl") {
					c.get("keime", x.to("keim"), "bezeichnung")
					for _, y := range c.list("antibiogramm", x, "isolat", "antibiotikum stufe") {
						c.get("antibiotika", y.to("antibiotikum"), "wirkstoff")
					}
				}
			}),
			s.call(6, lis, func(c *client) {
				f := c.get("geraete", c.any("Geraet"), "*")
				c.get("hersteller", f.to("hersteller"), "firma")
				for _, x := range c.list("kalibrierungen", f, "geraet", "zeitpunkt in_ordnung durch limit 4") {
					c.get("mitarbeiter", x.to("durch"), "name kuerzel")
				}
				for _, x := range c.list("befunde_je_geraet", f, "geraet", "gemessen probe analyse wert limit 5") {
					c.get("proben", x.to("probe"), "entnommen auftrag")
				}
			}),
			s.call(5, lis, func(c *client) {
				for _, x := range c.page("qualitaetskontrollen", c.any("Kontrolle"), "kontroll_id istwert analyse charge limit 6") {
					analyse(c, x.to("analyse"))
					if c.chance(0.5) {
						y := c.get("chargen", x.to("charge"), "*")
						c.get("reagenzien", y.to("reagenz"), "bezeichnung")
					}
				}
			}),
			s.call(5, lis, func(c *client) {
				f := c.get("analysen", c.any("Analyse"), "*")
				c.get("methoden", f.to("methode"), "bezeichnung")
				c.list("referenzbereiche", f, "analyse", "*")
			}),
			s.call(4, kis, func(c *client) {
				f := c.get("profile", c.any("Profil"), "*")
				for _, x := range c.list("profil_analysen", f, "profil", "analyse") {
					analyse(c, x.to("analyse"))
				}
			}),
			s.call(5, job, func(c *client) {
				f := c.get("rechnungen", c.any("Rechnung"), "*")
				c.get("krankenkassen", f.to("kasse"), "bezeichnung")
				c.get("faelle", f.to("fall"), "aufnahme patient")
				for _, x := range c.list("rechnungspositionen", f, "rechnung", "*") {
					analyse(c, x.to("analyse"))
				}
			}),
			s.call(2, job, func(c *client) {
				for _, x := range c.list("rechnungen_je_kasse", c.any("Kasse"), "kasse", "rechnung_nr betrag fall limit 6") {
					c.list("rechnungspositionen", x, "rechnung", "*")
				}
			}),
			s.call(4, lis, func(c *client) {
				f := c.get("mitarbeiter", c.get("sitzungen", c.any("Sitzung"), "mitarbeiter ablauf").to("mitarbeiter"), "*")
				for _, x := range c.list("dienstplan", f, "mitarbeiter", "datum art vertretung limit 7") {
					if v := x.to("vertretung"); v != nil {
						c.get("mitarbeiter", v, "name")
					}
				}
				if v := f.to("vorgesetzter"); v != nil && c.chance(0.3) {
					c.get("mitarbeiter", v, "name")
				}
			}),
			s.call(4, lis, func(c *client) {
				f := c.get("rueckrufe", c.any("Rueckruf"), "*")
				c.get("befunde", f.to("befund"), "wert auffaellig")
				c.get("einsender", f.to("einsender"), "name")
				c.get("mitarbeiter", f.to("anrufer"), "kuerzel")
			}),
			s.call(3, kis, func(c *client) {
				c.find("patienten_nach_name", "geboren pat_nr vorname", []int{c.any("Patient").i}, 0, is("name", c.any("Patient"), "name"))
			}),
			s.call(2, lis, func(c *client) { c.get("isolate", c.any("Isolat"), "*") }),
			s.call(4, kis, func(c *client) {
				a := c.make("Auftrag", true, "auftraege auftraege_je_fall auftraege_je_tag", map[string]*frame{"fall": c.get("faelle", c.any("Fall"), "*")})
				p := c.make("Probe", true, "proben proben_je_auftrag", map[string]*frame{"auftrag": a})
				for range 2 {
					c.make("Anforderung", false, "anforderungen", map[string]*frame{"auftrag": a})
					c.make("Befund", true, "befunde befunde_je_geraet", map[string]*frame{"probe": p})
				}
			}),
			s.call(2, lis, func(c *client) { c.make("Kontrolle", false, "qualitaetskontrollen", nil) }),
			s.call(2, lis, func(c *client) { c.make("Kommentar", false, "kommentare", nil) }),
			s.call(2, lis, func(c *client) {
				i := c.make("Isolat", true, "isolate isolate_je_probe", nil)
				c.make("Resistenz", false, "antibiogramm", map[string]*frame{"isolat": i})
			}),
			s.call(2, job, func(c *client) {
				r := c.make("Rechnung", true, "rechnungen rechnungen_je_kasse", nil)
				for range 2 {
					c.make("Position", false, "rechnungspositionen", map[string]*frame{"rechnung": r})
				}
			}),
			s.call(2, kis, func(c *client) { c.make("Fall", true, "faelle faelle_je_patient", nil) }),
			s.call(1, kis, func(c *client) { c.make("Patient", true, "patienten patienten_nach_name", nil) }),
			s.call(1, lis, func(c *client) { c.make("Rueckruf", false, "rueckrufe", nil) }),
			s.call(1, lis, func(c *client) { c.make("Kalibrierung", false, "kalibrierungen", nil) }),
		}
	},
}
